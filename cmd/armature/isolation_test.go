package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
	"armature/plugins/plugintest"
)

// marker is in everything that is alpha's: no answer to beta may show it.
const marker = "alpha-only-9431"

// visitor makes requests to one server as they are written, host and all.
type visitor struct {
	t       *testing.T
	address string
}

// send sends a request and returns its status and everything that was answered.
func (v visitor) send(verb, target, host string, header []string, body string) (status int, answer string) {
	v.t.Helper()
	conn, err := net.Dial("tcp", v.address)
	if err != nil {
		v.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nAccept: application/json\r\n", verb, target, host)
	for _, h := range header {
		text.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&text, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	text.WriteString("\r\n" + body)
	if _, err := io.WriteString(conn, text.String()); err != nil {
		v.t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		v.t.Fatal(err)
	}
	_, _ = fmt.Sscanf(string(all), "HTTP/1.1 %d", &status)
	return status, string(all)
}

// want sends a request as somebody and returns the answer, which must be a success.
func (v visitor) want(verb, target, host, auth string, body any) string {
	v.t.Helper()
	text := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			v.t.Fatal(err)
		}
		text = string(b)
	}
	status, answer := v.send(verb, target, host, []string{"Authorization: " + auth}, text)
	if status/100 != 2 {
		v.t.Fatalf("%s %s on %s: %s", verb, target, host, answer)
	}
	return answer
}

// TestSitesAreIsolated fills one site and tries to reach what it has from
// another one in the same process.
func TestSitesAreIsolated(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		for _, name := range []string{"alpha", "beta"} {
			in.Run("site", "new", name)
			in.Run("site", "config", name, "set", "hosts", `["`+name+`.example"]`)
			in.Run("user", "add", "jane@example.com", "--site", name, "--role", "System Manager")
		}
		key := func(site string) string {
			var keys struct {
				Key    string `json:"api_key"`
				Secret string `json:"api_secret"`
			}
			if err := json.Unmarshal([]byte(in.Run("user", "keys", "jane@example.com", "--site", site)), &keys); err != nil {
				t.Fatal(err)
			}
			return "token " + keys.Key + ":" + keys.Secret
		}
		if _, stderr, err := in.Try("a pass phrase of "+marker+"\n", "user", "password", "jane@example.com", "--site", "alpha"); err != nil {
			t.Fatal(stderr)
		}
		s := in.Serve("--log-level", "warn")
		v := visitor{t, strings.TrimPrefix(s.URL, "http://")}
		alpha, beta := key("alpha"), key("beta")
		const a, b = "alpha.example", "beta.example"

		// What alpha has. Beta has a plugin of the same name.
		v.want("POST", "/api/resource/ToDo", a, alpha, map[string]any{"name": "secret", "description": marker})
		v.want("POST", "/api/resource/DocType", a, alpha, map[string]any{"name": "Alpha Thing", "module": "A", "custom": 1,
			"fields":      []any{map[string]any{"fieldname": "title", "fieldtype": "Data", "label": marker}},
			"permissions": []any{map[string]any{"role": "System Manager", "read": 1, "create": 1}}})
		v.want("POST", "/api/resource/Alpha%20Thing", a, alpha, map[string]any{"title": marker})
		public, private := v.upload(a, alpha, "file0.txt", "0", marker), v.upload(a, alpha, "file1.txt", "1", marker)
		for _, host := range []string{a, b} {
			auth := map[string]string{a: alpha, b: beta}[host]
			v.install(host, auth, plugintest.Asks(t, "acme.both", "1", "1", nil, "kv_get", "kv_set", "doc_get"))
		}
		v.install(a, alpha, plugintest.Asks(t, "acme.alphaonly", "1", "2", nil))
		v.want("POST", "/api/method/acme.both.kv_set", a, alpha, map[string]any{"key": "k", "value": marker})
		status, answer := v.send("POST", "/api/method/login", a, nil, `{"usr": "jane@example.com", "pwd": "a pass phrase of `+marker+`"}`)
		session := ""
		for line := range strings.Lines(answer) {
			if value, ok := strings.CutPrefix(line, "Set-Cookie: sid="); ok {
				session, _, _ = strings.Cut(value, ";")
			}
		}
		if status != http.StatusOK || session == "" {
			t.Fatalf("log in to alpha: %s", answer)
		}

		type request struct{ verb, target, body string }
		has := []request{
			{"GET", "/api/resource/ToDo/secret", ""},
			{"GET", "/api/resource/ToDo?fields=" + url.QueryEscape(`["*"]`), ""},
			{"GET", "/api/resource/Alpha%20Thing?fields=" + url.QueryEscape(`["*"]`), ""},
			{"GET", "/api/resource/DocType/Alpha%20Thing", ""},
			{"GET", private, ""},
			{"GET", public, ""},
			{"POST", "/api/method/acme.both.kv_get", `{"key": "k"}`},
			{"POST", "/api/method/acme.both.doc_get", `{"doctype": "ToDo", "name": "secret"}`},
			{"POST", "/api/method/acme.alphaonly.echo", `{"x": "` + marker + `"}`},
			{"GET", "/api/openapi.json", ""},
		}
		shown := 0
		for _, r := range has {
			if status, answer := v.send(r.verb, r.target, a, []string{"Authorization: " + alpha}, r.body); status == http.StatusOK && strings.Contains(answer, marker) {
				shown++
			} else if !strings.Contains(r.target, "openapi") {
				t.Errorf("alpha itself is not shown what it has: %s %s: %s", r.verb, r.target, answer)
			}
		}

		// Ways to be taken for alpha, with beta's rights or none.
		hosts := []string{b, "BETA.example", b + ":80", b + ".", "127.0.0.1", "alpha", "", "alpha.example.beta.example", "beta.example@alpha.example"}
		headers := [][]string{
			nil,
			{"X-Framework-Site-Name: alpha"},
			{"X-Forwarded-Host: " + a, "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https"},
			{"Forwarded: host=" + a},
			{"X-Original-Host: " + a, "X-Host: " + a},
		}
		credentials := []string{"", "Authorization: " + beta, "Authorization: " + alpha, "Cookie: sid=" + session,
			"Authorization: Bearer " + session, "Cookie: sid=" + session + "; user_id=jane%40example.com; system_user=yes"}
		targets := append([]request{}, has...)
		for _, path := range []string{
			"/files/../../alpha/files/file0.txt", "/files/%2e%2e/%2e%2e/alpha/files/file0.txt", "/files/..%2f..%2falpha/file0.txt",
			"/private/files/../../../alpha/site.db", "/api/resource/ToDo/..%2f..%2falpha%2fsecret", "/api/resource/site_alpha.d_todo",
			"/api/method/alpha.acme.alphaonly.echo", "/api/method/acme.alphaonly.echo%00", "//alpha.example/api/resource/ToDo/secret",
		} {
			targets = append(targets, request{"GET", path, ""})
		}
		tried := 0
		for _, host := range hosts {
			for _, header := range headers {
				for _, credential := range credentials {
					for _, r := range targets {
						h := header
						if credential != "" {
							h = append(h[:len(h):len(h)], credential)
						}
						body := r.body
						if strings.Contains(body, marker) {
							body = `{"x": 1}` // an echo would show what was sent
						}
						status, answer := v.send(r.verb, r.target, host, h, body)
						tried++
						if strings.Contains(answer, marker) {
							t.Errorf("%s %s on %q with %q shows what is alpha's: %d", r.verb, r.target, host, h, status)
						}
						if host == b && strings.Contains(r.target, "alphaonly") && status == http.StatusOK {
							t.Errorf("beta runs alpha's plugin: %s", answer)
						}
					}
				}
			}
		}
		t.Logf("%d things of alpha, %d requests to other hosts: none is shown", shown, tried)
		// The address in the request line names the site, and beta's rights are none there.
		for _, r := range has {
			if strings.HasPrefix(r.target, "/files/") {
				continue // it is public on alpha
			}
			if _, answer := v.send(r.verb, "http://"+a+r.target, b, []string{"Authorization: " + beta}, strings.ReplaceAll(r.body, marker, "x")); strings.Contains(answer, marker) {
				t.Errorf("with beta's key on alpha: %s", answer)
			}
		}

		// Credentials of one are none of the other.
		const me = "/api/method/framework.auth.get_logged_user"
		for what, header := range map[string]string{"key": "Authorization: " + alpha, "session": "Cookie: sid=" + session} {
			if status, answer := v.send("GET", me, a, []string{header}, ""); status != http.StatusOK || !strings.Contains(answer, "jane@example.com") {
				t.Errorf("alpha's %s on alpha: %s", what, answer)
			}
			if status, answer := v.send("GET", me, b, []string{header}, ""); status == http.StatusOK {
				t.Errorf("alpha's %s on beta: %s", what, answer)
			}
		}
		if status, answer := v.send("POST", "/api/method/login", b, nil, `{"usr": "jane@example.com", "pwd": "a pass phrase of `+marker+`"}`); status != http.StatusUnauthorized {
			t.Errorf("alpha's password on beta: %s", answer)
		}
		// Logging out of beta ends no session of alpha.
		v.send("POST", "/api/method/logout", b, []string{"Cookie: sid=" + session}, "{}")
		if status, _ := v.send("GET", me, a, []string{"Cookie: sid=" + session}, ""); status != http.StatusOK {
			t.Error("beta ended a session of alpha")
		}
		// What beta writes and deletes is beta's.
		v.want("POST", "/api/resource/ToDo", b, beta, map[string]any{"name": "secret", "description": "of beta"})
		v.want("POST", "/api/method/acme.both.kv_set", b, beta, map[string]any{"key": "k", "value": "of beta"})
		v.want("DELETE", "/api/resource/ToDo/secret", b, beta, nil)
		for _, r := range has[:2] {
			if answer := v.want(r.verb, r.target, a, alpha, nil); !strings.Contains(answer, marker) {
				t.Errorf("beta changed alpha: %s", answer)
			}
		}
		if answer := v.want("POST", "/api/method/acme.both.kv_get", a, alpha, map[string]any{"key": "k"}); !strings.Contains(answer, marker) {
			t.Errorf("beta changed alpha's cache: %s", answer)
		}

		// Limits and counts: alpha's budget is spent, beta's is not.
		if _, answer := v.send("GET", "/metrics", b, nil, ""); strings.Contains(answer, marker) {
			t.Error("the metrics show what is alpha's")
		}
		in.Run("site", "config", "alpha", "set", "rate_limit", `{"limit": 0.000001, "window": 3600}`)
		armaturetest.Eventually(t, "alpha's budget is spent", func() bool {
			status, _ := v.send("GET", me, a, []string{"Authorization: " + alpha}, "")
			return status == http.StatusTooManyRequests
		})
		if status, answer := v.send("GET", me, b, []string{"Authorization: " + beta}, ""); status != http.StatusOK {
			t.Errorf("alpha's budget is beta's: %s", answer)
		}
		// Alpha is gone, and beta is not.
		in.Run("site", "drop", "alpha", "--yes")
		armaturetest.Eventually(t, "alpha is gone", func() bool {
			status, _ := v.send("GET", me, a, []string{"Authorization: " + alpha}, "")
			return status == http.StatusNotFound
		})
		if status, _ := v.send("GET", me, b, []string{"Authorization: " + beta}, ""); status != http.StatusOK {
			t.Error("beta went with alpha")
		}
		if log := s.Log.String(); strings.Contains(log, marker) {
			t.Errorf("the log shows what is alpha's:\n%s", log)
		}
	})
}

// upload returns the URL of the file.
func (v visitor) upload(host, auth, name, private, content string) string {
	v.t.Helper()
	const boundary = "b0undary"
	part := func(header, value string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; " + header + "\r\n\r\n" + value + "\r\n"
	}
	body := part(`name="is_private"`, private) + part(`name="file"; filename="`+name+`"`, content) + "--" + boundary + "--\r\n"
	status, answer := v.send("POST", "/api/method/upload_file", host, []string{
		"Authorization: " + auth, "Content-Type: multipart/form-data; boundary=" + boundary,
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
	}, "")
	if status != http.StatusOK {
		v.t.Fatalf("upload: %s", answer)
	}
	_, rest, _ := strings.Cut(answer, `"file_url":"`)
	url, _, _ := strings.Cut(rest, `"`)
	return url
}

func (v visitor) install(host, auth string, wasm []byte) {
	v.t.Helper()
	v.want("POST", "/api/method/framework.plugins.install", host, auth, map[string]any{"wasm": wasm, "approve": "all"})
}
