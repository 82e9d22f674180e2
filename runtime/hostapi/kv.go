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

// KV keeps what the plugins of a site store between calls. *plugins/kv.Site satisfies it.
type KV interface {
	// Begin returns what one run of a plugin sees and changes.
	Begin(plugin string) KVRun
}

// KVRun is what one run of a plugin's function keeps: if a transaction has lost a
// race, the function is run again, and what the lost run kept never was there.
type KVRun interface {
	// Get returns the value of a key; ok is false when there is none.
	Get(key string) (value []byte, ok bool)
	// Set keeps a copy of value; ttl 0 means without end. Errors are faults:
	// BadRequest for a bad key, TooLarge for a value over the limit.
	Set(key string, value []byte, ttl time.Duration) error
	// Delete forgets a key, which need not be there.
	Delete(key string)
	// Keep makes the changes everybody's.
	Keep()
}

// kvKey finds the KVRun of a plugin in a document.SideEffects.
type kvKey struct{ plugin string }

// withKV runs fn with what the plugin has kept, in this call and before. The calls
// of a transaction share what they change until it has ended.
func (st *State) withKV(fn func(KVRun) error) error {
	begin := func() any { return st.plugin.KV.Begin(st.plugin.Name) }
	if st.call.Tx == nil {
		kept := begin().(KVRun)
		defer kept.Keep()
		return fn(kept)
	}
	aside := st.call.Tx.SideEffects()
	return fn(aside.Value(kvKey{st.plugin.Name}, func() any {
		kept := begin()
		if !aside.Rehearses() {
			aside.Last(kept.(KVRun).Keep)
		}
		return kept
	}).(KVRun))
}

func kvGet(_ context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Key string `json:"key"`
	}
	if err := st.kvRequest(abi.KVGet, request, &in, &in.Key); err != nil {
		return nil, err
	}
	err := st.withKV(func(kept KVRun) error {
		value, ok := kept.Get(in.Key)
		if !ok {
			value = []byte("null")
		}
		dst = append(dst, value...)
		return nil
	})
	return dst, err
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
	if err := st.withKV(func(kept KVRun) error { return kept.Set(in.Key, in.Value, lifetime(in.TTL)) }); err != nil {
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
	if method.Reads(st.call.Verb) {
		return append(dst, "null"...), nil
	}
	err := st.withKV(func(kept KVRun) error { kept.Delete(in.Key); return nil })
	return append(dst, "null"...), err
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
