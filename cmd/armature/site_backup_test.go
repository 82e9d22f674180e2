package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/plugins/plugintest"
)

// TestBackupAndRestore carries a site from SQLite to PostgreSQL and back and asks
// each of the three the same questions. The first archive is made while the
// server takes writes.
func TestBackupAndRestore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first := armaturetest.New(t)
	s := first.Serve()
	s.Auth = first.Keys("Administrator")
	jane := fillSite(t, first, s)
	ask := func(in *armaturetest.Installation, s *armaturetest.Server) map[string]any {
		t.Helper()
		other := &armaturetest.Server{T: t, URL: s.URL, Auth: jane, Log: s.Log}
		answers := map[string]any{"who": other.Want("GET", "/api/method/framework.auth.get_logged_user", nil)}
		for _, path := range []string{
			`/api/resource/Order/O-1`,
			`/api/resource/Order?fields=["*"]&order_by=name asc&limit_page_length=500`,
			`/api/resource/Version?fields=["docname","data"]&filters=[["ref_doctype","=","Order"]]&order_by=name asc`,
			`/api/resource/User/jane@example.com`,
			`/api/resource/DocType/Order`,
			`/api/resource/Numbered?fields=["name","title"]&order_by=name asc`,
			`/api/resource/File?fields=["file_name","file_url","is_private","content_hash"]&order_by=name asc`,
		} {
			answers[path] = s.Want("GET", strings.ReplaceAll(path, " ", "%20"), nil)
		}
		answers["plugin stored"] = s.Want("POST", "/api/method/acme.stored.echo", map[string]any{"x": 1})
		answers["plugin in the folder"] = s.Want("POST", "/api/method/acme.folder.echo", map[string]any{"x": 2})
		files, _ := s.Want("GET", `/api/resource/File?fields=["file_url"]&filters={"file_name":"note.txt"}`, nil).([]any)
		if len(files) != 1 {
			t.Fatalf("the files are %v", files)
		}
		answers["download"] = download(t, s, files[0].(map[string]any)["file_url"].(string))
		answers["login"] = login(t, s, "jane@example.com", "a long pass phrase")
		answers["configuration"] = in.Run("site", "config", "default", "get", "plugins")
		return answers
	}
	want := ask(first, s)
	if len(want[`/api/resource/Order?fields=["*"]&order_by=name asc&limit_page_length=500`].([]any)) != 50 {
		t.Fatal("the site was not filled")
	}

	// Writers go on while the archive is made. Each order has as many rows as it
	// says, whichever of them the archive has.
	stop, writing := make(chan struct{}), sync.WaitGroup{}
	for w := range 4 {
		writing.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				s.Call("POST", "/api/resource/Order", order(fmt.Sprintf("later-%d-%d", w, n), n%5))
				s.Call("PUT", "/api/resource/Order/O-50", map[string]any{"count": n % 3, "rows": rows(n % 3)})
			}
		})
	}
	archive := filepath.Join(t.TempDir(), "site.armature")
	backup := func(in *armaturetest.Installation, file string) {
		t.Helper()
		if out, stderr, err := with(in, "site", "backup", "default", file); err != nil {
			t.Fatalf("%v: %s%s", err, out, stderr)
		}
	}
	backup(first, archive)
	close(stop)
	writing.Wait()

	postgres := os.Getenv("ARMATURE_TEST_POSTGRES")
	if postgres == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("ARMATURE_TEST_POSTGRES is not set")
		}
		t.Skip("ARMATURE_TEST_POSTGRES is not set")
	}
	second := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: armaturetest.NewDatabase(t, postgres)}
	restore := func(in *armaturetest.Installation, file string, args ...string) {
		t.Helper()
		if _, stderr, err := with(in, append([]string{"site", "restore", file}, args...)...); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
	}
	restore(second, archive)
	p := second.Serve()
	p.Auth = s.Auth
	whole := 0
	for _, o := range p.Want("GET", `/api/resource/Order?fields=["name"]&limit_page_length=100000`, nil).([]any) {
		name := o.(map[string]any)["name"].(string)
		doc := p.Want("GET", "/api/resource/Order/"+name, nil).(map[string]any)
		if got := len(doc["rows"].([]any)); float64(got) != doc["count"] {
			t.Errorf("%s has %d rows and says %v: the archive is not of one moment", name, got, doc["count"])
		}
		whole++
		if strings.HasPrefix(name, "later") {
			p.Want("DELETE", "/api/resource/Order/"+name, nil)
		}
	}
	t.Logf("%d orders in the archive, each whole", whole)
	for _, one := range []*armaturetest.Server{s, p} { // what the writers have left
		one.Want("PUT", "/api/resource/Order/O-50", map[string]any{"count": 1, "rows": rows(1)})
	}
	// The name that comes next is the one after the last.
	if next := p.Want("POST", "/api/resource/Numbered", map[string]any{"title": "next"}).(map[string]any); next["name"] != "N-0004" {
		t.Errorf("the series goes on with %v", next["name"])
	}
	p.Want("DELETE", "/api/resource/Numbered/N-0004", nil)
	got := ask(second, p)
	compareAnswers(t, "PostgreSQL", want, got)

	back := filepath.Join(t.TempDir(), "back.armature")
	backup(second, back)
	third := armaturetest.New(t)
	restore(third, back)
	l := third.Serve()
	l.Auth = s.Auth
	compareAnswers(t, "SQLite again", want, ask(third, l))

	// A site that is there is left alone, unless told, and a running server
	// follows.
	if _, stderr, err := with(third, "site", "restore", back); err == nil || !strings.Contains(stderr, "--replace") {
		t.Errorf("restored over a site: %v, %s", err, stderr)
	}
	l.Want("POST", "/api/resource/Order", order("since", 0))
	restore(third, back, "--replace")
	armaturetest.Eventually(t, "the running server serves what was restored", func() bool {
		status, _ := l.Call("GET", "/api/resource/Order/since", nil)
		return status == http.StatusNotFound
	})
	p.Want("POST", "/api/resource/Order", order("since", 0))
	restore(second, back, "--replace")
	armaturetest.Eventually(t, "on PostgreSQL, too", func() bool {
		status, _ := p.Call("GET", "/api/resource/Order/since", nil)
		return status == http.StatusNotFound
	})
	compareAnswers(t, "PostgreSQL, replaced", want, ask(second, p))

	// As another site beside it, it takes no host of the other.
	restore(third, back, "--as", "copy")
	if out := third.Run("site", "config", "copy", "get", "hosts"); strings.TrimSpace(out) != `["copy"]` {
		t.Errorf("the copy answers %s", out)
	}
	if status, _ := l.Call("GET", "/api/resource/Order/O-1", nil); status != http.StatusOK {
		t.Errorf("beside a copy the site answers %d", status)
	}
}

// with runs a command with a passphrase in the environment.
func with(in *armaturetest.Installation, args ...string) (stdout, stderr string, err error) {
	cmd := in.Command(args...)
	cmd.Env = append(cmd.Env, "ARMATURE_BACKUP_PASSPHRASE=open sesame")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// fillSite gives a site one of everything and returns Jane's credentials.
func fillSite(t *testing.T, in *armaturetest.Installation, s *armaturetest.Server) (jane string) {
	t.Helper()
	doctype := func(name string, more map[string]any) {
		more["name"], more["module"], more["custom"] = name, "Shop", 1
		if more["istable"] == nil {
			more["permissions"] = []any{map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}}
		}
		s.Want("POST", "/api/resource/DocType", more)
	}
	field := func(name, typ string) map[string]any { return map[string]any{"fieldname": name, "fieldtype": typ} }
	row := field("rows", "Table")
	row["options"] = "Order Row"
	doctype("Order Row", map[string]any{"istable": 1, "fields": []any{field("item", "Data"), field("price", "Float"), field("n", "Int")}})
	doctype("Order", map[string]any{"track_changes": 1, "autoname": "prompt", "fields": []any{
		field("count", "Int"), field("day", "Date"), field("at", "Datetime"), field("hour", "Time"),
		field("note", "Text"), field("rate", "Float"), field("secret", "Password"), field("extra", "JSON"), row,
	}})
	doctype("Numbered", map[string]any{"autoname": "format:N-{####}", "fields": []any{field("title", "Data")}})
	for n := range 50 {
		s.Want("POST", "/api/resource/Order", order(fmt.Sprintf("O-%d", n+1), n%4))
	}
	s.Want("PUT", "/api/resource/Order/O-50", map[string]any{"count": 1, "rows": rows(1)})
	s.Want("PUT", "/api/resource/Order/O-1", map[string]any{"note": "changed: \U0001f600 \"quoted\"\n\u2028", "rate": 0.1})
	for n := range 3 {
		s.Want("POST", "/api/resource/Numbered", map[string]any{"title": fmt.Sprint(n)})
	}
	in.Run("user", "add", "jane@example.com", "--first-name", "Jane")
	if _, stderr, err := in.Try("a long pass phrase\n", "user", "password", "jane@example.com"); err != nil {
		t.Fatal(stderr)
	}
	upload(t, s, "note.txt", "the bytes of a file")
	s.Install(plugintest.Asks(t, "acme.stored", "1", "1", nil))
	armaturetest.Put(t, filepath.Join(in.Data, "sites", "default", "plugins", "folder.wasm"), plugintest.Asks(t, "acme.folder", "1", "2", nil))
	armaturetest.Eventually(t, "the plugin in the folder answers", func() bool {
		status, _ := s.Call("POST", "/api/method/acme.folder.echo", map[string]any{})
		return status == http.StatusOK
	})
	in.Run("site", "config", "default", "set", "plugins", `{"acme.stored": {"limit": 10}}`)
	return in.Keys("jane@example.com")
}

func order(name string, count int) map[string]any {
	return map[string]any{
		"name": name, "count": count, "rows": rows(count), "day": "2026-02-28", "at": "2026-02-28 23:59:59.123456",
		"hour": "01:02:03", "note": "<b>bold</b>", "rate": 1.0 / 3, "extra": `{"a": [1, 2.50, null]}`, "secret": "s3cret",
	}
}

func rows(n int) []any {
	all := []any{}
	for i := range n {
		all = append(all, map[string]any{"item": fmt.Sprint("item ", i), "price": 0.1 * float64(i), "n": i})
	}
	return all
}

func compareAnswers(t *testing.T, where string, want, got map[string]any) {
	t.Helper()
	for q, w := range want {
		if volatile(q, w) != volatile(q, got[q]) {
			t.Errorf("%s: %s answers\n%v\nwant\n%v", where, q, volatile(q, got[q]), volatile(q, w))
		}
	}
	if len(want) != len(got) || !reflect.DeepEqual(want["login"], got["login"]) {
		t.Errorf("%s: %v", where, got["login"])
	}
}

// volatile is an answer as text, without what changes by asking: O-50, which the
// test writes to, the traces of that, and when a user was last active.
func volatile(q string, answer any) string {
	if list, ok := answer.([]any); ok {
		var kept []any
		for _, row := range list {
			m, _ := row.(map[string]any)
			if m["name"] == "O-50" || m["docname"] == "O-50" || strings.HasPrefix(fmt.Sprint(m["docname"]), "later") {
				continue
			}
			kept = append(kept, row)
		}
		answer = kept
	}
	if m, ok := answer.(map[string]any); ok && strings.HasPrefix(q, "/api/resource/User") {
		for _, key := range []string{"last_active", "last_login", "last_ip", "modified", "modified_by"} {
			delete(m, key)
		}
	}
	text, _ := json.Marshal(answer)
	return string(text)
}

func upload(t *testing.T, s *armaturetest.Server, name, content string) {
	t.Helper()
	if status, answer := s.UploadAs(name, s.Auth, "/api/method/upload_file", []byte(content), "is_private", "1"); status != http.StatusOK {
		t.Fatalf("upload: %d %v", status, answer)
	}
}

func download(t *testing.T, s *armaturetest.Server, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", s.Auth)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", string(text))
}

// login logs in with a password and says who the session belongs to.
func login(t *testing.T, s *armaturetest.Server, user, password string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	body, _ := json.Marshal(map[string]string{"usr": user, "pwd": password})
	res, err := client.Post(s.URL+"/api/method/login", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res, err = client.Get(s.URL + "/api/method/framework.auth.get_logged_user"); err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", string(text))
}
