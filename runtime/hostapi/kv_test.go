package hostapi_test

import (
	"strings"
	"testing"
	"time"

	"armature/core/fault"
	"armature/runtime/hostapi"
)

// shelf is a store of one plugin on one site.
type shelf map[string][]byte

func (s shelf) Begin(string) hostapi.KVRun    { return s }
func (s shelf) Get(key string) ([]byte, bool) { v, ok := s[key]; return v, ok }
func (s shelf) Delete(key string)             { delete(s, key) }
func (s shelf) Keep()                         {}

func (s shelf) Set(key string, value []byte, ttl time.Duration) error {
	if len(value) > 100 {
		return fault.New(fault.TooLarge, "", "too much")
	}
	s[key] = append([]byte(ttl.String()+" "), value...)
	return nil
}

func TestKV(t *testing.T) {
	s := newSite(t)
	kept := shelf{"cursor": []byte(`{"at": 1}`)}
	s.plugin.KV = kept
	long := strings.Repeat("k", 256)
	got := s.post(
		ask("kv_get", m{"key": "cursor"}),
		ask("kv_get", m{"key": "absent"}),
		ask("kv_set", m{"key": "a", "value": []int{1, 2}, "ttl_s": 1.5}),
		ask("kv_set", m{"key": "b", "value": nil}),
		ask("kv_delete", m{"key": "cursor"}),
		ask("kv_get", m{"key": ""}),
		ask("kv_get", m{"key": long}),
		ask("kv_set", m{"key": "c"}),
		ask("kv_set", m{"key": "c", "value": long}),
	)
	for i, want := range []string{`{"at": 1}`, "null", "null", "null", "null"} {
		if got[i].Out != want {
			t.Errorf("step %d answers %q %q", i, got[i].Out, got[i].Rest)
		}
	}
	for _, a := range got[5:8] {
		a.refused(t, fault.BadRequest, "BadRequestError")
	}
	got[8].refused(t, fault.TooLarge, "RequestEntityTooLargeError")
	if len(kept) != 2 || string(kept["a"]) != "1.5s [1,2]" || string(kept["b"]) != "0s null" {
		t.Errorf("kept %q", kept)
	}
	// A GET leaves no trace.
	if _, err := s.try("GET", ask("kv_set", m{"key": "d", "value": 1}), ask("kv_delete", m{"key": "a"})); err != nil {
		t.Fatal(err)
	}
	if len(kept) != 2 {
		t.Errorf("after a GET: %q", kept)
	}
	s.plugin.Grants = 0
	s.post(ask("kv_get", m{"key": "a"}))[0].refused(t, fault.Permission, "PermissionError")
}
