package armature

import (
	"strconv"

	"armature/sdk/go/internal/raw"
)

// Load reads a key of the plugin's own store on this site. A key that is absent
// or expired is T's zero value.
func Load[T any](key string) (value T, err error) {
	err = finish(raw.KVGet, appendString(request(`{"key":`), key), &value)
	return value, err
}

// Store writes a key. ttl is its life in seconds; 0 keeps it.
func Store(key string, value any, ttl int) error {
	b, err := valueMember(appendString(request(`{"key":`), key), "value", value)
	if err != nil {
		return err
	}
	if ttl != 0 {
		b = strconv.AppendInt(append(b, `,"ttl_s":`...), int64(ttl), 10)
	}
	return finish(raw.KVSet, b, nil)
}

// Forget removes a key; one that is absent is no error.
func Forget(key string) error {
	return finish(raw.KVDelete, appendString(request(`{"key":`), key), nil)
}
