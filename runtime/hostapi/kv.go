package hostapi

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"armature/core/fault"
	"armature/core/method"
	"armature/runtime/abi"
)

// KV keeps what plugins store between calls. *plugins/kv.Cache satisfies it.
type KV interface {
	// Get returns the value of a key; ok is false when there is none.
	Get(site, plugin, key string) (value []byte, ok bool)
	// Set keeps a copy of value; ttl 0 means without end. Errors are faults:
	// BadRequest for a bad key, TooLarge for a value over the limit.
	Set(site, plugin, key string, value []byte, ttl time.Duration) error
	// Delete forgets a key, which need not be there.
	Delete(site, plugin, key string)
}

func kvGet(_ context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Key string `json:"key"`
	}
	if err := st.kvRequest(abi.KVGet, request, &in, &in.Key); err != nil {
		return nil, err
	}
	value, ok := st.plugin.KV.Get(st.plugin.Site, st.plugin.Name, in.Key)
	if !ok {
		return append(dst, "null"...), nil
	}
	return append(dst, value...), nil
}

// kvSet stores a value, except for a GET: what that does leaves no trace, and
// the store takes no part in the transaction that is rolled back.
func kvSet(_ context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
		TTL   float64         `json:"ttl_s"`
	}
	if err := st.kvRequest(abi.KVSet, request, &in, &in.Key); err != nil {
		return nil, err
	}
	if in.Value == nil {
		return nil, fault.New(fault.BadRequest, "", "%s: value is missing", abi.KVSet)
	}
	if method.Reads(st.call.Verb) {
		return append(dst, "null"...), nil
	}
	err := st.plugin.KV.Set(st.plugin.Site, st.plugin.Name, in.Key, in.Value, lifetime(in.TTL))
	if err != nil {
		return nil, err
	}
	return append(dst, "null"...), nil
}

func kvDelete(_ context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Key string `json:"key"`
	}
	if err := st.kvRequest(abi.KVDelete, request, &in, &in.Key); err != nil {
		return nil, err
	}
	if !method.Reads(st.call.Verb) {
		st.plugin.KV.Delete(st.plugin.Site, st.plugin.Name, in.Key)
	}
	return append(dst, "null"...), nil
}

// maxKey is how many bytes a key may have.
const maxKey = 255

func (st *State) kvRequest(name string, request []byte, in any, key *string) error {
	if st.plugin.KV == nil {
		return missing(name)
	}
	if err := decode(name, request, in); err != nil {
		return err
	}
	if *key == "" || len(*key) > maxKey {
		return fault.New(fault.BadRequest, "", "%s: key has 1 to %d bytes", name, maxKey)
	}
	return nil
}

// lifetime is seconds as a duration. More than a century is without end, which
// a Duration would not hold.
func lifetime(seconds float64) time.Duration {
	const century = 100 * 366 * 24 * 3600
	switch {
	case seconds > century:
		return 0
	case seconds > 0:
		return max(time.Duration(math.Round(seconds*float64(time.Second))), 1)
	}
	return time.Duration(seconds * float64(time.Second))
}
