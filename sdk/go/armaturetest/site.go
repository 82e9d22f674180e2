package armaturetest

import (
	"testing"
	"time"

	"armature/sdk/go"
	"armature/sdk/go/internal/raw"
)

// Site is a fresh site with the plugin on it. The Administrator acts on it until
// ActAs says otherwise.
type Site struct{ t testing.TB }

// New begins a fresh site, which lasts until the next one: tests that have one must
// not run in parallel.
func New(t testing.TB) *Site {
	t.Helper()
	s := &Site{t}
	s.tell(raw.TestSite, armature.Doc{})
	return s
}

// Call calls a method as a client does with a POST, and decodes its result into
// result, a pointer or nil. An error is an *armature.Error.
func (s *Site) Call(method string, args, result any) error {
	return s.CallBy("POST", method, args, result)
}

// CallBy is Call with another HTTP verb. A GET leaves nothing behind.
func (s *Site) CallBy(verb, method string, args, result any) error {
	answer := callAnswer{Result: result}
	return ask(raw.TestCall, callRequest{Method: method, Args: args, Verb: verb}, &answer)
}

// ActAs says who acts from now on: a user of the site with its roles, or, with
// roles, any user with those.
func (s *Site) ActAs(user string, roles ...string) {
	s.t.Helper()
	s.tell(raw.TestActAs, actAsRequest{User: user, Roles: roles})
}

// Clock stops the clock of the site and of the plugin.
func (s *Site) Clock(at time.Time) {
	s.t.Helper()
	s.tell(raw.TestClock, clockRequest{At: at.UnixMicro()})
}

// Seed has the host's random bytes repeat.
func (s *Site) Seed(seed int64) {
	s.t.Helper()
	s.tell(raw.TestSeed, seedRequest{Seed: seed})
}

// Configure sets what Config reads. A nil value is none.
func (s *Site) Configure(key string, value any) {
	s.t.Helper()
	s.tell(raw.TestConfigure, configureRequest{Key: key, Value: value})
}

// Insert stores a document, as whoever acts, and ends the test if that fails.
func (s *Site) Insert(doctype string, fields armature.Doc) armature.Doc {
	s.t.Helper()
	doc, err := armature.Insert(doctype, fields)
	if err != nil {
		s.t.Fatalf("insert %s: %v", doctype, err)
	}
	return doc
}

// Get reads a document, as whoever acts, and ends the test if that fails.
func (s *Site) Get(doctype, name string) armature.Doc {
	s.t.Helper()
	doc, err := armature.Get(doctype, name)
	if err != nil {
		s.t.Fatalf("get %s %s: %v", doctype, name, err)
	}
	return doc
}

func (s *Site) tell(call capability, request any) {
	s.t.Helper()
	if err := ask(call, request, nil); err != nil {
		s.t.Fatal(err)
	}
}
