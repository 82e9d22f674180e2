package sites_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/sites"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// write runs a change as the platform itself.
func write(t *testing.T, on *tenant.Tenant, fn func(tx document.Tx) error) error {
	t.Helper()
	return on.Store.Write(t.Context(), document.OwnTx, fn)
}

func insertUser(t *testing.T, on *tenant.Tenant, values map[string]any) *doctype.Document {
	t.Helper()
	var doc *doctype.Document
	err := write(t, on, func(tx document.Tx) (err error) {
		doc, err = on.Documents.As(identity.Root(), tx).Insert(t.Context(), "User", values)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestUserIsCompleted(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	on := sitetest.Create(t, s, "default")
	doc := insertUser(t, on, map[string]any{
		"email": " Jane@Example.COM ", "first_name": "Jane", "last_name": "Doe",
		"roles":      []any{map[string]any{"role": "System Manager"}},
		"api_key":    "chosen",
		"api_secret": "hmac1:00", "password_hash": "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA",
	})
	for field, want := range map[string]any{
		"name": "jane@example.com", "full_name": "Jane Doe", "user_type": auth.SystemUser,
		"api_key": nil, "api_secret": nil, "password_hash": nil,
	} {
		if got := doc.Get(field); got != want {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
	if doc = insertUser(t, on, map[string]any{"email": "rob@example.com", "first_name": "Rob"}); doc.Text("user_type") != "Website User" {
		t.Errorf("a user without roles is a %s", doc.Text("user_type"))
	}
}

// The Administrator, whose name is no address, can be changed, and keeps the
// address it has.
func TestAdministratorIsChanged(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		before, _ := s.Admin.Get("/api/resource/User/Administrator").Body["data"].(map[string]any)
		reply := s.Admin.Put("/api/resource/User/Administrator", map[string]any{"first_name": "Ada"})
		got, _ := reply.Body["data"].(map[string]any)
		if reply.Status != http.StatusOK || got["first_name"] != "Ada" || got["email"] != before["email"] {
			t.Errorf("changed: %d %s", reply.Status, reply.Text)
		}
	})
}

func TestBuiltInUsersStay(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	on := sitetest.Create(t, s, "default")
	for _, user := range []string{identity.Administrator, identity.Guest} {
		err := write(t, on, func(tx document.Tx) error {
			return on.Documents.As(identity.Root(), tx).Delete(t.Context(), "User", user)
		})
		if fault.From(err) == nil || fault.KindOf(err) != fault.Validation {
			t.Errorf("delete %s: %v", user, err)
		}
		err = write(t, on, func(tx document.Tx) error {
			_, err := on.Documents.As(identity.Root(), tx).Update(t.Context(), "User", user, map[string]any{"enabled": false})
			return err
		})
		if fault.From(err) == nil || fault.KindOf(err) != fault.Validation {
			t.Errorf("disable %s: %v", user, err)
		}
	}
}

func TestGenerateKeysMethod(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	on := sitetest.Create(t, s, "default")
	insertUser(t, on, map[string]any{"email": "rob@example.com", "first_name": "Rob"})
	generate := func(caller *identity.Caller) (method.Result, error) {
		return on.Methods().Run(t.Context(), method.Invocation{
			Path: "framework.core.doctype.user.user.generate_keys", Verb: "POST", Caller: caller,
			Args: method.ArgsMap(map[string]any{"user": "rob@example.com"}),
		})
	}
	if _, err := generate(&identity.Caller{User: "rob@example.com", Roles: []string{identity.All}}); err == nil || fault.KindOf(err) != fault.Permission {
		t.Errorf("a user without the role: %v", err)
	}
	res, err := generate(identity.Root())
	if err != nil {
		t.Fatal(err)
	}
	var keys auth.Keys
	if err := json.Unmarshal(res.Message, &keys); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "token "+keys.Key+":"+keys.Secret)
	caller, err := on.Auth.Authenticate(t.Context(), r)
	if err != nil || caller.User != "rob@example.com" {
		t.Fatalf("%v, %v", caller, err)
	}

	// Roles that change are seen by the very next request of this process.
	err = write(t, on, func(tx document.Tx) error {
		_, err := on.Documents.As(identity.Root(), tx).Update(t.Context(), "User", "rob@example.com",
			map[string]any{"roles": []any{map[string]any{"role": "System Manager"}}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if caller, err = on.Auth.Authenticate(t.Context(), r); err != nil || !caller.HasRole(identity.SystemManager) || !caller.Desk {
		t.Errorf("after a role was given: %+v, %v", caller, err)
	}

	// No document shows anything of the secret.
	err = on.Store.Read(t.Context(), func(tx document.Tx) error {
		text, err := on.Documents.As(identity.Root(), tx).AppendDocument(t.Context(), nil, "User", "rob@example.com", document.ReadOptions{})
		if strings.Contains(string(text), "hmac1") || strings.Contains(string(text), keys.Secret) {
			t.Errorf("the document shows the secret: %s", text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWhatGoesWithAUser: ToDos allocated to a user and shares with one are no
// reason to keep the user, and do not stay behind.
func TestWhatGoesWithAUser(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const todo, share, gone = "/api/resource/ToDo", "/api/resource/DocShare", "gone@example.com"
		s.User(t, gone)
		stays := s.Admin.Post(todo, map[string]any{"description": "of nobody"}).Data(t)["name"].(string)
		for _, at := range []string{gone, gone, "Administrator"} {
			s.Admin.Post(todo, map[string]any{"description": "of " + at, "allocated_to": at}).OK(t)
		}
		s.Admin.Post(share, map[string]any{"user": gone, "share_doctype": "ToDo", "share_name": stays, "read": 1}).OK(t)
		if r := s.Admin.Delete("/api/resource/User/" + gone); r.Status != http.StatusAccepted {
			t.Fatalf("deleted: %d %s", r.Status, r.Text)
		}
		if got := s.Admin.Get(todo, "order_by", "description asc", "fields", []string{"description"}).Column(t, "description"); !slices.Equal(got, []any{"of Administrator", "of nobody"}) {
			t.Errorf("ToDos: %v", got)
		}
		if got := s.Admin.Get(share).List(t); len(got) != 0 {
			t.Errorf("shares: %v", got)
		}
	})
}

// TestUsername: a new user may log in by a name made of the first one.
func TestUsername(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		for _, test := range []struct {
			email, first, last, username string
			want                         any
		}{
			{"a@example.com", "Mary Ann", "Lee", "", "mary_ann"},
			{"b@example.com", "Mary-Ann", "Poe", "", "mary_ann_poe"},
			{"c@example.com", "Mary Ann", "", "", nil},
			{"d@example.com", "Mary Ann", "", "chosen", "chosen"},
			{"e@example.com", "Administrator", "", "", nil},
			{"f@example.com", "Zoë!", "", "", "zoë"},
		} {
			got := s.Admin.Post("/api/resource/User", map[string]any{ // as a form sends it, with all of its fields
				"email": test.email, "first_name": test.first, "last_name": test.last, "username": test.username, "mobile_no": "",
			}).Data(t)["username"]
			if got != test.want {
				t.Errorf("%s %s is %v, want %v", test.first, test.last, got, test.want)
			}
		}
		s.Admin.Put("/api/resource/User/c@example.com", map[string]any{"username": "mary_ann"}).Fails(t, 417, "UniqueValidationError")
	})
}

// TestThrottledUsers: more users within an hour than a person makes.
func TestThrottledUsers(t *testing.T) {
	var past atomic.Int64 // which the site's own goroutines read
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		setConfig(t, s.Tenant, "throttle_user_limit", "5")
		user := func(i int) map[string]any {
			return map[string]any{"email": fmt.Sprintf("u%d@example.com", i), "first_name": "U"}
		}
		made := 0
		for made < 20 && s.Admin.Post("/api/resource/User", user(made)).Status == 200 {
			made++
		}
		if made == 0 || made > 5 {
			t.Errorf("%d users were made within an hour", made)
		}
		s.Admin.Post("/api/resource/User", user(made)).Fails(t, 417, "Throttled")
		past.Add(int64(61 * time.Minute))
		s.Admin.Post("/api/resource/User", user(made)).OK(t)
	}, func(c *sites.Config) {
		c.Clock = func() time.Time { return time.Now().Add(time.Duration(past.Load())) }
	})
}

func setConfig(t *testing.T, on *tenant.Tenant, key, value string) {
	t.Helper()
	config, err := on.Site.Config().With(key, json.RawMessage(value))
	if err != nil {
		t.Fatal(err)
	}
	on.Site.SetConfig(config)
}
