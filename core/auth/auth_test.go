package auth_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

func request(authorization ...string) *http.Request {
	r := httptest.NewRequest("GET", "/api/resource/ToDo", nil)
	for _, a := range authorization {
		r.Header.Add("Authorization", a)
	}
	return r
}

func basic(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestAuthenticate(t *testing.T) {
	f := newFixture(t)
	jane, gone := f.keys(t, "jane@example.com"), f.keys(t, "gone@example.com")
	pair := jane.Key + ":" + jane.Secret
	const (
		unauthorized = "AuthenticationError"
		undecodable  = "InvalidAuthorizationToken"
	)
	tests := []struct {
		name   string
		header []string
		user   string // empty: refused with
		exc    string
	}{
		{"no header", nil, "Guest", ""},
		{"empty", []string{""}, "Guest", ""},
		{"one part", []string{"token"}, "Guest", ""},
		{"three parts", []string{"token " + pair + " x"}, "Guest", ""},
		{"two spaces", []string{"token  " + pair}, "Guest", ""},
		{"space before", []string{" token " + pair}, "Guest", ""},
		{"token", []string{"token " + pair}, "jane@example.com", ""},
		{"capitals", []string{"TOKEN " + pair}, "jane@example.com", ""},
		{"basic", []string{"Basic " + basic(pair)}, "jane@example.com", ""},
		{"basic in small letters", []string{"basic " + basic(pair)}, "jane@example.com", ""},
		{"nothing after the scheme", []string{"token "}, "", unauthorized},
		{"no colon", []string{"token " + jane.Key}, "", unauthorized},
		{"basic without colon", []string{"Basic " + basic(jane.Key)}, "", unauthorized},
		{"two colons", []string{"token " + pair + ":"}, "", unauthorized},
		{"wrong secret", []string{"token " + jane.Key + ":" + strings.Repeat("0", 64)}, "", unauthorized},
		{"another's secret", []string{"token " + jane.Key + ":" + gone.Secret}, "", unauthorized},
		{"unknown key", []string{"token nobody:" + jane.Secret}, "", unauthorized},
		{"empty secret", []string{"token " + jane.Key + ":"}, "", unauthorized},
		{"empty key", []string{"token :"}, "", unauthorized},
		{"very long", []string{"token " + strings.Repeat("k", 4096) + ":s"}, "", unauthorized},
		{"disabled user", []string{"token " + gone.Key + ":" + gone.Secret}, "", unauthorized},
		{"unknown scheme", []string{"Digest " + pair}, "", unauthorized},
		{"bearer that nobody checks", []string{"Bearer " + jane.Key}, "", unauthorized},
		{"not base64", []string{"Basic ***"}, "", undecodable},
		{"base64 without padding", []string{"Basic " + strings.TrimRight(basic("ab:c"), "=")}, "", undecodable},
		{"base64 of bytes", []string{"Basic " + basic("\xff\xfe")}, "", unauthorized},
		{"two headers", []string{"token " + pair, "token " + pair}, "", unauthorized},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			caller, err := f.Authenticate(t.Context(), request(tt.header...))
			if tt.exc != "" {
				if err == nil || fault.From(err).ExcType() != tt.exc {
					t.Fatalf("%v, %v; want %s", caller, err, tt.exc)
				}
				return
			}
			if err != nil || caller.User != tt.user {
				t.Fatalf("%v, %v; want %s", caller, err, tt.user)
			}
		})
	}
}

func TestRoles(t *testing.T) {
	f := newFixture(t)
	tests := []struct {
		user  string
		desk  bool
		roles []string
	}{
		{"Guest", false, []string{"Guest"}},
		// A disabled role counts for nothing, and Administrator cannot be assigned.
		{"jane@example.com", true, []string{"All", "Desk User", "Editor", "Guest"}},
		{"rob@example.com", false, []string{"All", "Guest", "Reader"}},
		{"Administrator", true, []string{"Administrator", "All", "Desk User", "Guest", "System Manager"}},
	}
	for _, tt := range tests {
		t.Run(tt.user, func(t *testing.T) {
			caller, err := f.Caller(t.Context(), tt.user)
			if err != nil {
				t.Fatal(err)
			}
			roles := slices.Sorted(slices.Values(caller.Roles))
			if !slices.Equal(roles, tt.roles) || caller.Desk != tt.desk {
				t.Errorf("roles %q, desk %v", roles, caller.Desk)
			}
		})
	}
	for _, user := range []string{"gone@example.com", "nobody@example.com"} {
		if _, err := f.Caller(t.Context(), user); fault.KindOf(err) != fault.Authentication {
			t.Errorf("%s: %v, want an Authentication fault", user, err)
		}
	}
}

func TestSteadyStateAsksNothing(t *testing.T) {
	f := newFixture(t)
	keys := f.keys(t, "jane@example.com")
	r := request("token " + keys.Key + ":" + keys.Secret)
	for range 100 {
		if _, err := f.Authenticate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if versions, reads := f.store.counts(); versions != 1 || reads != 1 {
		t.Errorf("100 requests asked for the epoch %d times and for the user %d times", versions, reads)
	}
	f.advance(500 * time.Millisecond)
	if _, err := f.Authenticate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if versions, reads := f.store.counts(); versions != 2 || reads != 1 {
		t.Errorf("an old epoch was read %d times, the user %d times", versions-1, reads-1)
	}
}

func TestNewSecretReplacesTheOld(t *testing.T) {
	f := newFixture(t)
	elsewhere := f.another()
	before := f.keys(t, "jane@example.com")
	old := request("token " + before.Key + ":" + before.Secret)
	for _, s := range []*auth.Service{f.Service, elsewhere} {
		if _, err := s.Authenticate(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	after := f.keys(t, "jane@example.com")
	if after.Key != before.Key || after.Secret == before.Secret {
		t.Fatalf("keys went from %+v to %+v", before, after)
	}
	// The new secret works everywhere at once; the old one is dead at once where
	// it was replaced, and elsewhere when the epoch is read next.
	for _, s := range []*auth.Service{f.Service, elsewhere} {
		if _, err := s.Authenticate(t.Context(), request("token "+after.Key+":"+after.Secret)); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Authenticate(t.Context(), old); fault.KindOf(err) != fault.Authentication {
		t.Errorf("the old secret still works here: %v", err)
	}
	f.advance(501 * time.Millisecond)
	if _, err := elsewhere.Authenticate(t.Context(), old); fault.KindOf(err) != fault.Authentication {
		t.Errorf("the old secret still works elsewhere: %v", err)
	}
}

func TestEpochUnreadable(t *testing.T) {
	f := newFixture(t)
	keys := f.keys(t, "jane@example.com")
	r := request("token " + keys.Key + ":" + keys.Secret)
	if _, err := f.Authenticate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	f.store.fail(errors.New("the database is away"))
	if _, err := f.Authenticate(t.Context(), r); err != nil {
		t.Errorf("within the half second: %v", err)
	}
	f.advance(time.Second)
	if _, err := f.Authenticate(t.Context(), r); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("after it: %v, want Unavailable", err)
	}
	if _, err := f.Authenticate(t.Context(), request()); err != nil {
		t.Errorf("without credentials: %v", err)
	}
	f.store.fail(nil)
	if _, err := f.Authenticate(t.Context(), r); err != nil {
		t.Errorf("once the database is back: %v", err)
	}
}

func TestGenerateKeysNeedsSystemManager(t *testing.T) {
	f := newFixture(t)
	err := f.store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
		_, err := f.GenerateKeys(t.Context(), tx, &identity.Caller{User: "rob@example.com"}, "rob@example.com")
		return err
	})
	if fault.KindOf(err) != fault.Permission {
		t.Errorf("%v, want PermissionError", err)
	}
}

func TestSecretIsNotStored(t *testing.T) {
	f := newFixture(t)
	keys := f.keys(t, "jane@example.com")
	for _, v := range f.store.docs["User"]["jane@example.com"].Values() {
		if s, _ := v.(string); strings.Contains(s, keys.Secret) {
			t.Errorf("the document holds the secret: %q", s)
		}
	}
}

// TestHeaderBesideSession: whoever says by the header who they are is that and
// nobody else, whatever session lies beside it.
func TestHeaderBesideSession(t *testing.T) {
	f := newFixture(t)
	keys := f.keys(t, "rob@example.com")
	for header, want := range map[string]string{
		"token " + keys.Key + ":" + keys.Secret: "rob@example.com",
		"TOKEN " + keys.Key + ":" + keys.Secret: "rob@example.com",
		"token " + keys.Key + ":wrong":          "",
		"Bearer":                                "",
		"Bearer a b":                            "",
		"Bearer stale":                          "",
		"Negotiate x":                           "",
		" ":                                     "jane@example.com", // says nothing
	} {
		r := f.session(t)
		r.Method = http.MethodPost
		r.Header["Authorization"] = []string{header}
		caller, err := f.Authenticate(t.Context(), r)
		if want == "" && fault.KindOf(err) != fault.Authentication || want != "" && (err != nil || caller.User != want) {
			t.Errorf("%q: %v, %v; want %q", header, caller, err, want)
		}
		if id := auth.SessionID(r); want != "jane@example.com" && id != "" {
			t.Errorf("%q acts by the session", header)
		}
	}
	r := f.session(t)
	r.Header["Authorization"] = []string{"", "token " + keys.Key + ":" + keys.Secret}
	if _, err := f.Authenticate(t.Context(), r); fault.KindOf(err) != fault.Authentication {
		t.Errorf("two headers: %v", err)
	}
}

func TestConcurrentChanges(t *testing.T) {
	f := newFixture(t)
	keys := f.keys(t, "jane@example.com")
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			r := request("token " + keys.Key + ":" + keys.Secret)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := f.Authenticate(t.Context(), r); err != nil && fault.KindOf(err) != fault.Authentication {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 50 {
		now := f.keys(t, "jane@example.com")
		if _, err := f.Authenticate(t.Context(), request("token "+now.Key+":"+now.Secret)); err != nil {
			t.Error(err)
		}
		if _, err := f.Authenticate(t.Context(), request("token "+keys.Key+":"+keys.Secret)); err == nil {
			t.Error("a replaced secret passed in the process that replaced it")
		}
	}
	close(stop)
	wg.Wait()
}

func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"", "token a:b", "Basic YTpi", "Bearer x", "token  ", "basic ====", "\x00 \xff:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		fix := newFixture(t)
		fix.keys(t, "jane@example.com")
		r := request()
		r.Header["Authorization"] = []string{value}
		caller, err := fix.Authenticate(t.Context(), r)
		switch {
		case err != nil:
			if k := fault.KindOf(err); k != fault.Authentication && k != fault.BadRequest {
				t.Errorf("%q: %v", value, err)
			}
		case !caller.IsGuest():
			t.Errorf("%q is %s", value, caller.User)
		case strings.Count(value, " ") == 1 && len(strings.Fields(value)) == 2: // net/http trims the blanks around a value
			t.Errorf("%q has two parts and was ignored", value)
		}
	})
}
