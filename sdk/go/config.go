package armature

import "armature/sdk/go/internal/raw"

// Config reads a key of the plugin's configuration on this site; a key that is
// not set is T's zero value.
func Config[T any](key string) (value T, err error) {
	err = finish(raw.ConfigGet, appendString(request(`{"key":`), key), &value)
	return value, err
}
