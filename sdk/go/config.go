package armature

// Config reads a key of the plugin's configuration on this site. A key that is not set
// is T's zero value; Config[*int] tells one from the number 0.
func Config[T any](key string) (value T, err error) {
	err = ConfigGetRequest{Key: key}.Ask(&value)
	return value, err
}
