package armature

import "encoding/json"

// Load reads a key of the plugin's own store on this site. found is false for one that
// is absent or expired, and value then T's zero value. The store is a cache: a key may
// go at any time.
func Load[T any](key string) (value T, found bool, err error) {
	var text json.RawMessage
	if err = (KVGetRequest{Key: key}).Ask(&text); err != nil || string(text) == "null" {
		return value, false, err
	}
	if err = decode(text, &value); err != nil {
		return value, true, &Error{KindInternal, "", "decode " + key + ": " + err.Error()}
	}
	return value, true, nil
}

// Store writes a key. ttl is its life in seconds; 0 keeps it. null cannot be told from
// a key that is absent.
func Store(key string, value any, ttl int) error {
	return KVSetRequest{Key: key, Value: value, TTLSeconds: int64(ttl)}.Ask()
}

// Forget removes a key; one that is absent is no error.
func Forget(key string) error { return KVDeleteRequest{Key: key}.Ask() }
