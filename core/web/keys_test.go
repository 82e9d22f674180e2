package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites/sitetest"
)

// keyCall calls a method of keys by a session.
func keyCall(t *testing.T, s *sitetest.Server, sid, name, args string) reply {
	t.Helper()
	return send(t, s, "POST", "/api/method/framework.key."+name, args, "Cookie", sid, "Content-Type", "application/json")
}

// makeKey makes one by a session and returns its id and the header to send.
func makeKey(t *testing.T, s *sitetest.Server, sid, args string) (key, header string) {
	t.Helper()
	r := keyCall(t, s, sid, "create", args)
	made, _ := r.body["message"].(map[string]any)
	key, _ = made["api_key"].(string)
	secret, _ := made["api_secret"].(string)
	if r.StatusCode != 200 || key == "" || len(secret) != 64 {
		t.Fatalf("%d %s", r.StatusCode, r.text)
	}
	return key, "token " + key + ":" + secret
}

// keysOf are the rows of the list, by title.
func keysOf(t *testing.T, s *sitetest.Server, sid string) map[string]map[string]any {
	t.Helper()
	r := keyCall(t, s, sid, "list", "{}")
	list, ok := r.body["message"].([]any)
	if r.StatusCode != 200 || !ok {
		t.Fatalf("%d %s", r.StatusCode, r.text)
	}
	all := map[string]map[string]any{}
	for _, row := range list {
		row, _ := row.(map[string]any)
		all[fmt.Sprint(row["title"])] = row
	}
	return all
}

// by asks as whoever sends the header.
func by(t *testing.T, s *sitetest.Server, header, verb, path, body string) reply {
	t.Helper()
	return send(t, s, verb, path, body, "Authorization", header, "Content-Type", "application/json")
}

const loggedUser = "/api/method/framework.auth.get_logged_user"

// TestKeys: a user has several keys, each with a life of its own, beside the single one.
func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		single := s.As(t, jane).Authorization
		sid := loggedIn(t, s, jane)
		c.advance(time.Second)
		one, first := makeKey(t, s, sid, `{"title": "Export"}`)
		_, short := makeKey(t, s, sid, `{"title": "Visit", "days": 2, "scopes": ["resource:ToDo:read"]}`)
		_, text := makeKey(t, s, sid, `{"title": "Text", "days": "30", "scopes": "resource:ToDo:read  method:framework.client.* resource:ToDo:read"}`)
		for name, header := range map[string]string{"the single one": single, "one": first, "with an end": short, "with scopes as text": text} {
			if r := by(t, s, header, "GET", loggedUser, ""); r.StatusCode != 200 || r.body["message"] != jane {
				t.Errorf("%s: %d %s", name, r.StatusCode, r.text)
			}
		}
		basic := s.As(t, jane).Basic() // another secret of the single one
		basic.Get(loggedUser).OK(t)
		if r := by(t, s, single, "GET", loggedUser, ""); r.StatusCode != 401 {
			t.Errorf("the secret before: %d", r.StatusCode)
		}

		all := keysOf(t, s, sid)
		if len(all) != 4 || all[""]["single"] != true || all["Export"]["api_key"] != one || all["Visit"]["expires"].(float64) != float64(c.Now().AddDate(0, 0, 2).Unix()) {
			t.Fatalf("%v", all)
		}
		if scopes := fmt.Sprint(all["Text"]["scopes"]); scopes != "[resource:ToDo:read method:framework.client.*]" {
			t.Errorf("scopes are %s", scopes)
		}
		if used := all["Export"]["last_used"].(float64); used != float64(c.Now().Unix()) {
			t.Errorf("last used %v", used)
		}
		secret := strings.Split(first, ":")[1]
		if r := keyCall(t, s, sid, "list", "{}"); strings.Contains(r.text, secret) || strings.Contains(r.text, "hmac1") {
			t.Errorf("the list tells a secret: %s", r.text)
		}

		// One that has ended is known, and works no more; others do.
		c.advance(48 * time.Hour)
		by(t, s, short, "GET", loggedUser, "").fails(t, 401, "AuthenticationError")
		if r := by(t, s, first, "GET", loggedUser, ""); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		sid = loggedIn(t, s, jane)
		if all = keysOf(t, s, sid); all["Visit"]["expired"] != true || all["Export"]["last_used"].(float64) != float64(c.Now().Unix()-1) && all["Export"]["last_used"].(float64) != float64(c.Now().Unix()) {
			t.Errorf("%v", all)
		}
		twin := s.Twin(t)
		if r := by(t, twin, first, "GET", loggedUser, ""); r.StatusCode != 200 {
			t.Fatalf("at another server: %d", r.StatusCode)
		}

		// Nobody else ends or sees it.
		s.User(t, "bob@example.com", "System Manager")
		setPassword(t, s, "bob@example.com", right)
		bob := loggedIn(t, s, "bob@example.com")
		keyCall(t, s, bob, "end", `{"key": "`+one+`"}`).fails(t, 404, "DoesNotExistError")
		if r := keyCall(t, s, bob, "list", "{}"); strings.Contains(r.text, one) {
			t.Error("somebody else sees it")
		}
		keyCall(t, s, sid, "end", `{"key": ""}`).fails(t, 404, "DoesNotExistError")
		if r := keyCall(t, s, sid, "end", `{"key": "`+one+`"}`); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		by(t, s, first, "GET", loggedUser, "").fails(t, 401, "AuthenticationError")
		keyCall(t, s, sid, "end", `{"key": "`+one+`"}`).fails(t, 404, "DoesNotExistError")
		if r := by(t, s, text, "GET", loggedUser, ""); r.StatusCode != 200 {
			t.Errorf("another one: %d", r.StatusCode)
		}
		if r := keyCall(t, s, sid, "end", `{"key": "`+all[""]["api_key"].(string)+`"}`); r.StatusCode != 200 {
			t.Fatalf("the single one: %d %s", r.StatusCode, r.text)
		}
		basic.Get(loggedUser).Fails(t, 401, "AuthenticationError")

		// A user who is disabled has no keys that work, and has them again.
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"enabled": 0}).OK(t)
		by(t, s, text, "GET", loggedUser, "").fails(t, 401, "AuthenticationError")
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"enabled": 1}).OK(t)
		if r := by(t, s, text, "GET", loggedUser, ""); r.StatusCode != 200 {
			t.Errorf("enabled again: %d", r.StatusCode)
		}
		log := s.Admin.Get("/api/resource/Activity Log", "filters", `[["operation","=","Keys"],["user","=","`+jane+`"]]`, "fields", `["subject","owner"]`, "limit", "0").OK(t).Text
		for _, subject := range []string{"has the new key Export, for all that its user may", "has the new key Visit, for resource:ToDo:read", "the key Export of " + jane + " has ended"} {
			if !strings.Contains(log, subject) {
				t.Errorf("the log does not say %q: %s", subject, log)
			}
		}
		// With its user a key goes, and after a month one that has ended.
		c.advance(61 * 24 * time.Hour)
		if err := s.Tenant.Auth.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := rowsOf(t, s, jane); n != 0 {
			t.Errorf("%d keys are kept that ended long ago", n)
		}
		_, text = makeKey(t, s, loggedIn(t, s, jane), `{"title": "Last"}`)
		s.Admin.Delete("/api/resource/User/" + jane)
		by(t, s, text, "GET", loggedUser, "").fails(t, 401, "AuthenticationError")
		if n := rowsOf(t, s, jane); n != 0 {
			t.Errorf("%d rows are left of a user who is gone", n)
		}
	})
}

// TestKeyScopes: a key with scopes is refused outside of them at every door, and so is
// what would make more of it.
func TestKeyScopes(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		s.Configure(t, "mcp", "true")
		todo := s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "seen"}).OK(t).Data(t)["name"].(string)
		private := "--b\r\nContent-Disposition: form-data; name=\"is_private\"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nsecret text\r\n--b--\r\n"
		file, _ := s.As(t, jane).Do("POST", "/api/method/upload_file", "multipart/form-data; boundary=b", []byte(private)).Message(t).(map[string]any)["file_url"].(string)
		sid := loggedIn(t, s, jane)
		_, reads := makeKey(t, s, sid, `{"title": "r", "scopes": ["resource:ToDo:read"]}`)
		_, calls := makeKey(t, s, sid, `{"title": "m", "scopes": ["method:framework.client.*"]}`)
		_, wide := makeKey(t, s, sid, `{"title": "a", "scopes": ["all"]}`)
		_, whole := makeKey(t, s, sid, `{"title": "w"}`)
		const resource, method = "/api/resource/", "/api/method/"
		list := func(doctype string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{"doctype":"` + doctype + `"}}}`
		}
		tests := []struct {
			name, key, verb, path, body string
			want                        int
		}{
			{"list", reads, "GET", resource + "ToDo", "", 200},
			{"read", reads, "GET", resource + "ToDo/" + todo, "", 200},
			{"create", reads, "POST", resource + "ToDo", `{"description":"x"}`, 403},
			{"change", reads, "PUT", resource + "ToDo/" + todo, `{"description":"x"}`, 403},
			{"delete", reads, "DELETE", resource + "ToDo/" + todo, "", 403},
			{"another type", reads, "GET", resource + "User", "", 403},
			{"another type by a method of any scope", reads, "GET", method + "framework.client.get_list?doctype=User", "", 403},
			{"its own type by a method of any scope", reads, "GET", method + "framework.client.get_list?doctype=ToDo", "", 200},
			{"documents by the scope of a method alone", calls, "GET", method + "framework.client.get_list?doctype=ToDo", "", 403},
			{"many at once", reads, "POST", method + "framework.client.insert_many", `{"docs":[{"doctype":"ToDo","description":"x"}]}`, 403},
			{"a private file", reads, "GET", file, "", 403},
			{"a private file by the method", reads, "GET", method + "download_file?file_url=" + url.QueryEscape(file), "", 403},
			{"the same with more", wide, "GET", file, "", 200},
			{"an upload", reads, "POST", method + "upload_file", "", 403},
			{"the door of agents", reads, "POST", "/mcp", list("User"), 403},
			{"the door of agents, for its own type", reads, "POST", "/mcp", list("ToDo"), 200},
			{"a page", wide, "GET", "/app/keys", "", 403},
			{"the console", wide, "GET", "/app/d", "", 403},
			{"another password", wide, "POST", method + "framework.core.doctype.user.user.update_password", `{"old_password":"` + right + `","new_password":"another ` + right + `"}`, 403},
			{"the single key", wide, "POST", method + "framework.core.doctype.user.user.generate_keys", `{"user":"` + jane + `"}`, 403},
			{"the single key by a whole one", whole, "POST", method + "framework.core.doctype.user.user.generate_keys", `{"user":"` + jane + `"}`, 403},
			{"a key", whole, "POST", method + "framework.key.create", `{"title":"x"}`, 403},
			{"the keys", whole, "GET", method + "framework.key.list", "", 403},
			{"ending one", whole, "POST", method + "framework.key.end", `{"key":"x"}`, 403},
			{"everything", whole, "GET", resource + "User", "", 200},
			{"everything by all", wide, "GET", resource + "User", "", 200},
		}
		for _, tt := range tests {
			headers := []string{"Authorization", tt.key, "Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
			if strings.HasSuffix(tt.path, "upload_file") {
				tt.body, headers[3] = private, "multipart/form-data; boundary=b"
			}
			r := send(t, s, tt.verb, tt.path, tt.body, headers...)
			if r.StatusCode != tt.want {
				t.Errorf("%s: %d, want %d: %s", tt.name, r.StatusCode, tt.want, r.text)
			}
			// The cookie of a session beside it changes nothing.
			if r := send(t, s, tt.verb, tt.path, tt.body, append(headers, "Cookie", sid)...); r.StatusCode != tt.want && tt.verb == "GET" {
				t.Errorf("%s, with a session beside it: %d: %s", tt.name, r.StatusCode, r.text)
			}
		}
		if got := s.Admin.Get(resource + "ToDo/" + todo).OK(t).Data(t)["description"]; got != "seen" {
			t.Errorf("it was changed to %v", got)
		}
	})
}

// TestKeyRefused: who may not make one, and what is none.
func TestKeyRefused(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		for _, args := range []string{
			`{}`, `{"title": ""}`, `{"title": " "}`, `{"title": 7}`, `{"title": "x", "days": -1}`, `{"title": "x", "days": 3651}`, `{"title": "x", "days": 1.5}`,
			`{"title": "x", "days": "soon"}`, `{"title": "x", "days": true}`, `{"title": "x", "scopes": 1}`, `{"title": "x", "scopes": [1]}`, `{"title": "x", "scopes": [""]}`,
			`{"title": "x", "scopes": {"a": 1}}`, `{"title": "x", "scopes": ["openid"]}`, `{"title": "x", "scopes": ["resource:ToDo"]}`, `{"title": "x", "scopes": ["resource:ToDo:reed"]}`,
			`{"title": "x", "scopes": ["resource:Sales Order:read"]}`, `{"title": "x", "scopes": ["elevated"]}`, `{"title": "x", "scopes": ["platform"]}`, `{"title": "x", "scopes": ["method:"]}`,
			`{"title": "x", "scopes": ["event:ToDo.validate"]}`, `{"title": "x", "scopes": ["resource:` + strings.Repeat("x", 300) + `:read"]}`, `{"title": "x", "scopes": "ressource:ToDo:read"}`,
		} {
			keyCall(t, s, sid, "create", args).fails(t, 417, "ValidationError")
		}
		if all := keysOf(t, s, sid); len(all) != 1 && len(all) != 0 {
			t.Errorf("%v", all)
		}
		for range 50 {
			makeKey(t, s, sid, `{"title": "many"}`)
		}
		keyCall(t, s, sid, "create", `{"title": "one too many"}`).fails(t, 417, "ValidationError")

		// A page of another site makes none, and an old login none.
		send(t, s, "POST", "/api/method/framework.key.create", `{"title":"x"}`, "Cookie", sid, "Content-Type", "application/json", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example").fails(t, 400, "CSRFTokenError")
		s.User(t, "bob@example.com")
		setPassword(t, s, "bob@example.com", right)
		bob := loggedIn(t, s, "bob@example.com")
		a, _ := enrolled(t, s, c, bob)
		login(t, s, "bob@example.com", right).fails(t, 401, "SecondFactorRequired")
		proved := withCode(t, s, "bob@example.com", a.code(t)).sid()
		_, header := makeKey(t, s, proved, `{"title": "mine", "scopes": []}`)
		if r := by(t, s, header, "GET", loggedUser, ""); r.body["message"] != "bob@example.com" {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		c.advance(16 * time.Minute)
		keyCall(t, s, proved, "create", `{"title": "late"}`).fails(t, 403, "FreshLoginRequired")
		if shown := send(t, s, "GET", "/app/keys", "", "Cookie", proved); !strings.Contains(shown.text, "Log in again") || strings.Contains(shown.text, "Make a key") {
			t.Errorf("the page of an old login: %s", shown.text)
		}
		// A session that was made before the factor has shown none.
		err := s.Tenant.Store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
			_, err := s.Tenant.Auth.ResetFactors(t.Context(), tx, identity.Root(), "bob@example.com")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		// Wrong secrets, another's secret, and a key in other letters are none.
		id, secret, _ := strings.Cut(strings.TrimPrefix(header, "token "), ":")
		for _, wrong := range []string{id + ":" + strings.Repeat("0", 64), strings.ToUpper(id) + ":" + secret, id + ":", "k:" + secret, "k" + strings.Repeat("0", 32) + ":" + secret, id + "%:" + secret} {
			by(t, s, "token "+wrong, "GET", loggedUser, "").fails(t, 401, "AuthenticationError")
		}
		s.Configure(t, "read_only", "true")
		if r := keyCall(t, s, loggedInOn(t, s), "create", `{"title": "x"}`); r.StatusCode == 200 {
			t.Error("a site that is read only makes one")
		}
	})
}

// loggedInOn is a session of jane on a site as it is, empty where it makes none.
func loggedInOn(t *testing.T, s *sitetest.Server) string {
	t.Helper()
	return login(t, s, jane, right).sid()
}

var headerShown = regexp.MustCompile(`<code id="header">Authorization: (token [0-9a-fk]+:[0-9a-f]{64})</code>`)

// TestKeysPage: the same by the page, which shows the secret once.
func TestKeysPage(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		shown := send(t, s, "GET", "/app/keys", "", "Cookie", sid)
		form := func(values url.Values) reply {
			values.Set("csrf_token", found(t, csrfField, shown.text))
			return send(t, s, "POST", "/app/keys", values.Encode(), "Cookie", sid, "Content-Type", "application/x-www-form-urlencoded")
		}
		made := form(url.Values{"do": {"make"}, "title": {`Till <b>"7"</b>`}, "scopes": {"resource:ToDo:read"}, "days": {"90"}})
		header := found(t, headerShown, made.text)
		if made.StatusCode != 200 || made.Header.Get("Cache-Control") != "no-store" || made.Header.Get("Content-Security-Policy") == "" {
			t.Fatalf("%d %v", made.StatusCode, made.Header)
		}
		if r := by(t, s, header, "GET", "/api/resource/ToDo", ""); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		list := send(t, s, "GET", "/app/keys", "", "Cookie", sid)
		for _, part := range []string{"Till &lt;b&gt;&#34;7&#34;&lt;/b&gt;", "Ends on 2 June 2031", "Last used today at 12:00"} {
			if !strings.Contains(list.text, part) {
				t.Errorf("the page does not say %q: %s", part, list.text)
			}
		}
		secret := strings.Split(header, ":")[1]
		if strings.Contains(list.text, secret) {
			t.Error("the secret is shown again")
		}
		if r := form(url.Values{"do": {"make"}, "title": {"x"}, "scopes": {"resource:ToDo"}, "days": {"90"}}); r.StatusCode != 417 || !strings.Contains(r.text, `value="resource:ToDo"`) || !strings.Contains(r.text, "is no scope") {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if r := form(url.Values{"do": {"make"}, "title": {"x"}, "days": {"many"}}); r.StatusCode != 417 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if r := form(url.Values{"do": {"something"}}); r.StatusCode != 400 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		key := strings.TrimPrefix(strings.Split(header, ":")[0], "token ")
		other := send(t, s, "POST", "/app/keys", url.Values{"do": {"end"}, "key": {key}}.Encode(), "Cookie", sid, "Content-Type", "application/x-www-form-urlencoded")
		if other.StatusCode != 400 {
			t.Errorf("without the token of the session: %d", other.StatusCode)
		}
		for range 2 {
			if r := form(url.Values{"do": {"end"}, "key": {key}}); r.StatusCode != 303 || r.Header.Get("Location") != "/app/keys?done=ended" {
				t.Errorf("%d %s", r.StatusCode, r.text)
			}
		}
		by(t, s, header, "GET", "/api/resource/ToDo", "").fails(t, 401, "AuthenticationError")
	})
}

// The answers of the methods are what the guide says.
func TestKeyAnswer(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		makeKey(t, s, sid, `{"title": "x"}`)
		row, err := json.Marshal(keysOf(t, s, sid)["x"])
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"api_key", "title", "scopes", "creation", "expires", "expired", "last_used", "single"} {
			if !strings.Contains(string(row), `"`+field+`"`) {
				t.Errorf("%s lacks %s", row, field)
			}
		}
	})
}
