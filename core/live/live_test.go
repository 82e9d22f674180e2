package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/live"
	"armature/core/sites"
	"armature/core/sites/sitetest"
	"armature/core/store/pgbouncer"
)

type obj = map[string]any

// serving has a site tell what changes.
func serving(c live.ProcessConfig) sitetest.Option {
	return func(config *sites.Config) { config.Streams = live.NewProcess(c) }
}

func each(t *testing.T, test func(t *testing.T, s *sitetest.Server)) {
	t.Helper()
	sitetest.Each(t, test, serving(live.ProcessConfig{}))
}

// define makes a DocType that users of the role Reader may read.
func define(t *testing.T, s *sitetest.Server, name string, more obj, fields ...obj) {
	t.Helper()
	body := obj{"name": name, "module": "Test", "custom": 1, "autoname": "Prompt", "fields": fields,
		"permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "share": 1}, {"role": "Reader", "read": 1}}}
	for key, value := range more {
		body[key] = value
	}
	s.Admin.Post("/api/resource/DocType", body).OK(t)
}

func role(t *testing.T, s *sitetest.Server, names ...string) {
	t.Helper()
	for _, name := range names {
		s.Admin.Post("/api/resource/Role", obj{"role_name": name}).OK(t)
	}
}

func note(t *testing.T, s *sitetest.Server) {
	t.Helper()
	role(t, s, "Reader")
	define(t, s, "Memo", nil, obj{"fieldname": "state", "fieldtype": "Data"}, obj{"fieldname": "title", "fieldtype": "Data"})
}

func TestFollowing(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server) {
		note(t, s)
		s.Admin.Post("/api/resource/Memo", obj{"name": "a", "state": "open"}).OK(t)
		clerk := s.User(t, "clerk@example.com", "Reader")
		list := follow(t, s.URL, clerk.Authorization, "doctype", "Memo", "fields", `["name","title"]`, "filters", `[["state","=","open"]]`)
		one := follow(t, s.URL, s.Admin.Authorization, "subscribe", `[{"id":"mine","doctype":"Memo","name":"a"}]`)
		list.round()
		one.round()

		s.Admin.Put("/api/resource/Memo/a", obj{"title": "new"}).OK(t)
		list.wants(`changed Memo/a {"name":"a","title":"new"}`)
		if told := one.told(); !strings.HasPrefix(told, `changed Memo/a {"name":"a","owner":`) || !strings.Contains(told, `"title":"new"`) || !strings.Contains(told, `"doctype":"Memo"`) {
			t.Errorf("of the document: %s", told)
		}
		s.Admin.Post("/api/resource/Memo", obj{"name": "b", "state": "done"}).OK(t)
		s.Admin.Put("/api/resource/Memo/b", obj{"state": "open"}).OK(t)
		list.wants(`changed Memo/b {"name":"b","title":null}`)
		s.Admin.Put("/api/resource/Memo/a", obj{"state": "done"}).OK(t)
		list.wants("removed Memo/a")
		one.told()
		s.Admin.Delete("/api/resource/Memo/a")
		one.wants("removed Memo/a")
		s.Admin.Delete("/api/resource/Memo/b")
		list.wants("removed Memo/b")
	})
}

func TestOfAnotherProcess(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server) {
		note(t, s)
		r := follow(t, s.URL, s.Admin.Authorization, "doctype", "Memo")
		twin := s.Twin(t)
		twin.Admin.Post("/api/resource/Memo", obj{"name": "a"}).OK(t)
		if told := r.told(); !strings.HasPrefix(told, `changed Memo/a {"name":"a","modified":`) {
			t.Errorf("told %s", told)
		}
	})
}

// Behind a pooler in transaction mode nobody is notified: what another process changes,
// and whom it refuses from now on, is found by looking.
func TestBehindPgBouncer(t *testing.T) {
	process := live.NewProcess(live.ProcessConfig{})
	s := sitetest.New(t, pgbouncer.Start(t, sitetest.Postgres(t), pgbouncer.Options{Conns: 4}), func(c *sites.Config) { c.Streams = process })
	note(t, s)
	clerk := s.User(t, "clerk@example.com", "Reader")
	r := follow(t, s.URL, clerk.Authorization, "doctype", "Memo", "fields", `["name"]`)
	r.round()
	twin := s.Twin(t)
	twin.Admin.Post("/api/resource/Memo", obj{"name": "a"}).OK(t)
	r.wants(`changed Memo/a {"name":"a"}`)
	twin.Admin.Delete("/api/resource/Memo/a")
	r.wants("removed Memo/a")
	settled(t, process)
	twin.Admin.Post("/api/resource/Memo", obj{"name": "c"}).OK(t)
	r.wants(`changed Memo/c {"name":"c"}`)
	last := r.last
	r.stop()
	twin.Admin.Post("/api/resource/Memo", obj{"name": "b"}).OK(t)
	again := followFrom(t, twin.URL, clerk.Authorization, last, "doctype", "Memo", "fields", `["name"]`)
	again.wants(`changed Memo/b {"name":"b"}` + "\n" + "rows Memo/")
	s.Admin.Put("/api/resource/User/clerk@example.com", obj{"enabled": 0}).OK(t)
	again.ends("disabled")
}

func TestWhatCannotBeFollowed(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server) {
		note(t, s)
		nobody := s.User(t, "nobody@example.com")
		tests := []struct {
			name, who, query string
			status           int
		}{
			{"without rights", nobody.Authorization, "doctype=Memo", http.StatusForbidden},
			{"a document without rights", nobody.Authorization, "doctype=Memo&name=a", http.StatusForbidden},
			{"not logged in", "", "doctype=Memo", http.StatusForbidden},
			{"no such DocType", s.Admin.Authorization, "doctype=Nothing", http.StatusNotFound},
			{"nothing", s.Admin.Authorization, "", http.StatusExpectationFailed},
			{"no such field", s.Admin.Authorization, `doctype=Memo&filters=[["nothing","=",1]]`, http.StatusExpectationFailed},
			{"a page", s.Admin.Authorization, "doctype=Memo&limit=3", http.StatusExpectationFailed},
			{"an aggregate", s.Admin.Authorization, `doctype=Memo&fields=["count(*)"]`, http.StatusExpectationFailed},
			{"no such method", s.Admin.Authorization, "topic=acme.nothing", http.StatusNotFound},
			{"no JSON", s.Admin.Authorization, "subscribe=[", http.StatusExpectationFailed},
			{"a child table", s.Admin.Authorization, "doctype=Has+Role", http.StatusExpectationFailed},
		}
		for _, test := range tests {
			values, err := url.ParseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			var params []string
			for key := range values {
				params = append(params, key, values.Get(key))
			}
			if r := connect(t, s.URL, test.who, "", params...); r.status != test.status {
				t.Errorf("%s: %d %s, want %d", test.name, r.status, r.body, test.status)
			}
		}
		if reply := s.Admin.Post("/api/live?doctype=Memo", obj{}); reply.Status != http.StatusMethodNotAllowed {
			t.Errorf("POST: %d", reply.Status)
		}
	})
}

// Whoever may not see any more what they follow is told nothing more, and why, whatever
// their credentials were and whichever process took them away. The pump looks after each
// commit that it is told of, and twice a second: the stream ends within a second.
func TestRevocation(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server) {
		note(t, s)
		s.Admin.Post("/api/resource/Memo", obj{"name": "a"}).OK(t)
		twin := s.Twin(t)
		for name, revoke := range map[string]func(user string){
			"disabled":  func(user string) { twin.Admin.Put("/api/resource/User/"+user, obj{"enabled": 0}).OK(t) },
			"the roles": func(user string) { twin.Admin.Put("/api/resource/User/"+user, obj{"roles": []obj{}}).OK(t) },
			"the key":   func(user string) { s.As(t, user) },
		} {
			user := strings.ReplaceAll(name, " ", "") + "@example.com"
			clerk := s.User(t, user, "Reader")
			r := follow(t, s.URL, clerk.Authorization, "doctype", "Memo")
			r.round()
			revoke(user)
			r.ends(name)
		}

		// Keys with a name: ended, and one that reaches another DocType alone.
		s.User(t, "keys@example.com", "Reader")
		key := func(n auth.NewKey) (id, header string) {
			t.Helper()
			err := s.Tenant.Store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
				keys, err := s.Tenant.Auth.MakeKeyOf(t.Context(), tx, identity.Root(), "keys@example.com", n)
				id, header = keys.Key, "token "+keys.Key+":"+keys.Secret
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return id, header
		}
		_, narrow := key(auth.NewKey{Title: "narrow", Scopes: []string{"resource:ToDo:read"}})
		if r := connect(t, s.URL, narrow, "", "doctype", "Memo"); r.status != http.StatusForbidden {
			t.Errorf("a DocType that the key does not reach: %d %s", r.status, r.body)
		}
		id, header := key(auth.NewKey{Title: "ends", Scopes: []string{"resource:Memo:read"}})
		r := follow(t, s.URL, header, "doctype", "Memo")
		r.round()
		err := s.Tenant.Store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
			return s.Tenant.Auth.EndKeyOf(t.Context(), tx, identity.Root(), "keys@example.com", id)
		})
		if err != nil {
			t.Fatal(err)
		}
		r.ends("a key with a name")

		password := "correct horse battery staple"
		// Sessions: logging out, and a new password, which ends all of them.
		s.Admin.Post("/api/resource/User", obj{"email": "ann@example.com", "first_name": "Ann", "new_password": password, "roles": []obj{{"role": "Reader"}}}).OK(t)
		for name, end := range map[string]func(cookie string){
			"logged out": func(cookie string) { logout(t, twin.URL, cookie) },
			"another password": func(string) {
				twin.Admin.Put("/api/resource/User/ann@example.com", obj{"new_password": password + "!"}).OK(t)
				password += "!"
			},
		} {
			cookie := login(t, s, "ann@example.com", password)
			other := login(t, s, "ann@example.com", password)
			r := follow(t, s.URL, cookie, "doctype", "Memo")
			r.round()
			stays := follow(t, s.URL, other, "doctype", "Memo")
			stays.round()
			end(cookie)
			r.ends(name)
			if name != "logged out" {
				stays.ends(name + ", another session")
				continue
			}
			s.Admin.Put("/api/resource/Memo/a", obj{"title": name}).OK(t)
			if told := stays.told(); !strings.HasPrefix(told, "changed Memo/a") {
				t.Errorf("another session of a user who has logged out elsewhere is told %s", told)
			}
		}

		// Tokens: revoked by the client, and one that was narrowed to less.
		s.Admin.Post("/api/resource/User", obj{"email": "robot@example.com", "first_name": "Robot", "user_type": "Service", "roles": []obj{{"role": "Reader"}}}).OK(t)
		client := s.Admin.Post("/api/resource/OAuth%20Client", obj{"app_name": "Robot", "service_user": "robot@example.com", "scopes": "resource:Memo:read resource:ToDo:read"}).OK(t).Data(t)
		id, secret := fmt.Sprint(client["client_id"]), fmt.Sprint(client["client_secret"])
		for name, end := range map[string]func(token string){
			"the token is revoked": func(token string) { form(t, twin.URL, "revoke_token", id, secret, "token", token) },
			"its client may less": func(string) {
				twin.Admin.Put("/api/resource/OAuth%20Client/"+id, obj{"scopes": "resource:ToDo:read"}).OK(t)
			},
		} {
			s.Admin.Put("/api/resource/OAuth%20Client/"+id, obj{"scopes": "resource:Memo:read resource:ToDo:read"}).OK(t)
			var granted struct {
				Token string `json:"access_token"`
			}
			answer := form(t, s.URL, "get_token", id, secret, "grant_type", "client_credentials", "scope", "resource:Memo:read")
			if err := json.Unmarshal(answer, &granted); err != nil {
				t.Fatal(err)
			}
			if r := connect(t, s.URL, "Bearer "+granted.Token, "", "doctype", "ToDo"); r.status != http.StatusForbidden {
				t.Errorf("a DocType that the token does not reach: %d %s", r.status, r.body)
			}
			r := follow(t, s.URL, "Bearer "+granted.Token, "doctype", "Memo")
			r.round()
			end(granted.Token)
			r.ends(name)
		}
	})
}

func TestResume(t *testing.T) {
	var process *live.Process
	streams := func(c *sites.Config) {
		process = live.NewProcess(live.ProcessConfig{})
		c.Streams = process
	}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		note(t, s)
		for _, name := range []string{"a", "b", "c"} {
			s.Admin.Post("/api/resource/Memo", obj{"name": name, "state": "open"}).OK(t)
		}
		ask := []string{"doctype", "Memo", "fields", `["name","state"]`, "filters", `[["state","!=","hidden"]]`}
		first := follow(t, s.URL, s.Admin.Authorization, ask...)
		first.round()
		settled(t, process) // from when on every process logs for certain
		s.Admin.Put("/api/resource/Memo/a", obj{"state": "one"}).OK(t)
		first.told()
		first.stop()
		s.Admin.Put("/api/resource/Memo/a", obj{"state": "two"}).OK(t)
		s.Admin.Put("/api/resource/Memo/b", obj{"state": "hidden"}).OK(t)
		twin := s.Twin(t)
		again := followFrom(t, twin.URL, s.Admin.Authorization, first.last, ask...)
		var texts []string
		for _, e := range again.round() {
			texts = append(texts, e.Text)
		}
		want := `{"subscription":"0","doctype":"Memo","name":"a","data":{"name":"a","state":"two"}}` + "\n" +
			`{"subscription":"0","doctype":"Memo","names":["a","c"]}`
		if got := strings.Join(texts, "\n"); got != want {
			t.Errorf("told\n%s\nwant\n%s", got, want)
		}
		for _, strange := range []string{"x", "a.b.c.d.e", first.last + "9"} {
			lost := followFrom(t, s.URL, s.Admin.Authorization, strange, ask...)
			if list := lost.round(); len(list) == 0 || list[0].Kind != "gap" {
				t.Errorf("from %q: %+v", strange, list)
			}
			lost.stop()
		}
	}, streams)
}

func TestBounds(t *testing.T) {
	test := func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "live_streams_per_user", "2")
		for range 2 {
			follow(t, s.URL, s.Admin.Authorization, "doctype", "ToDo")
		}
		if r := connect(t, s.URL, s.Admin.Authorization, "", "doctype", "ToDo"); r.status != http.StatusTooManyRequests || !strings.Contains(r.body, `"RateLimitExceededError"`) {
			t.Errorf("the third stream of a user: %d %s", r.status, r.body)
		}
		s.Configure(t, "quotas", `{"streams": 2}`)
		other := s.User(t, "other@example.com", "System Manager")
		if r := connect(t, s.URL, other.Authorization, "", "doctype", "ToDo"); r.status != http.StatusTooManyRequests || !strings.Contains(r.body, `"QuotaExceededError"`) {
			t.Errorf("the third stream of a site: %d %s", r.status, r.body)
		}
	}
	t.Run("SQLite", func(t *testing.T) { test(t, sitetest.New(t, "", serving(live.ProcessConfig{}))) })
}

// A client that is not read from is told that it has missed something.
func TestGap(t *testing.T) {
	s := sitetest.New(t, "", serving(live.ProcessConfig{Buffer: 1000}))
	note(t, s)
	r := follow(t, s.URL, s.Admin.Authorization, "doctype", "Memo", "fields", `["*"]`)
	r.round()
	s.Admin.Post("/api/resource/Memo", obj{"name": "a", "title": strings.Repeat("x", 100)}).OK(t)
	r.told()
	s.Admin.Post("/api/resource/DocType", obj{"name": "Long", "module": "Test", "custom": 1, "autoname": "Prompt",
		"fields": []obj{{"fieldname": "text", "fieldtype": "Long Text"}}, "permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}}}).OK(t)
	long := follow(t, s.URL, s.Admin.Authorization, "doctype", "Long", "fields", `["*"]`)
	long.round()
	s.Admin.Post("/api/resource/Long", obj{"name": "a", "text": strings.Repeat("x", 2000)}).OK(t)
	if e := long.next(); e.Kind != "gap" {
		t.Errorf("told %+v", e)
	}
	s.Admin.Post("/api/resource/Long", obj{"name": "b", "text": "short"}).OK(t)
	if told := long.told(); !strings.HasPrefix(told, "changed Long/b") {
		t.Errorf("after a gap: %s", told)
	}
}

func TestHeartbeat(t *testing.T) {
	s := sitetest.New(t, "", serving(live.ProcessConfig{Heartbeat: 20 * time.Millisecond, Poll: 10 * time.Millisecond}))
	r := follow(t, s.URL, s.Admin.Authorization, "doctype", "ToDo")
	r.round()
	for range 3 {
		if e := r.next(); e.Kind != "" || e.ID == "" {
			t.Fatalf("told %+v", e)
		}
	}
}

// A server that ends tells its clients to come again.
func TestDrain(t *testing.T) {
	process := live.NewProcess(live.ProcessConfig{})
	s := sitetest.New(t, "", func(c *sites.Config) { c.Streams = process })
	r := follow(t, s.URL, s.Admin.Authorization, "doctype", "ToDo")
	r.round()
	process.Drain()
	for range r.events {
	}
	if c := process.Counts(); c.Streams != 0 {
		t.Errorf("%d streams are open", c.Streams)
	}
	if r := connect(t, s.URL, s.Admin.Authorization, "", "doctype", "ToDo"); r.status != http.StatusServiceUnavailable {
		t.Errorf("afterwards: %d", r.status)
	}
}
