package auth_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"armature/core/document"
)

// session puts a session of jane's into the store and makes a request with it.
func (f *fixture) session(t testing.TB) *http.Request {
	t.Helper()
	id := strings.Repeat("5a", 32)
	now := f.clock()
	f.put("Session", hex.EncodeToString(secret.MAC("session", id)), map[string]any{
		"user": "jane@example.com", "last_used": now.Unix(), "expires": now.Add(time.Hour).Unix(),
	})
	r := request()
	r.AddCookie(&http.Cookie{Name: "sid", Value: id})
	return r
}

// TestSessionCostsNoQuery: in the steady state a session costs what a key does.
func TestSessionCostsNoQuery(t *testing.T) {
	f := newFixture(t)
	r := f.session(t)
	for range 2 {
		if caller, err := f.Authenticate(t.Context(), r); err != nil || caller.User != "jane@example.com" {
			t.Fatalf("%v, %v", caller, err)
		}
	}
	versions, reads := f.store.counts()
	for range 100 {
		if _, err := f.Authenticate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if v, n := f.store.counts(); v != versions || n != reads {
		t.Errorf("%d readings of the epoch and %d of documents", v-versions, n-reads)
	}
}

// TestSessionEndsEverywhere: at once where it was ended, within half a second in
// other processes.
func TestSessionEndsEverywhere(t *testing.T) {
	f := newFixture(t)
	other := f.another()
	r := f.session(t)
	if caller, err := other.Authenticate(t.Context(), r); err != nil || caller.IsGuest() {
		t.Fatalf("%v, %v", caller, err)
	}
	err := f.store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
		return f.EndSessions(t.Context(), tx, "jane@example.com")
	})
	if err != nil {
		t.Fatal(err)
	}
	if caller, err := f.Authenticate(t.Context(), r); err != nil || !caller.IsGuest() {
		t.Errorf("here: %v, %v", caller, err)
	}
	f.advance(501 * time.Millisecond)
	if caller, err := other.Authenticate(t.Context(), r); err != nil || !caller.IsGuest() {
		t.Errorf("elsewhere: %v, %v", caller, err)
	}
}

func BenchmarkAuthenticateSession(b *testing.B) {
	f := newFixture(b)
	r := f.session(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Authenticate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
