package public_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/public"
	"armature/core/route"
)

// frontend is a folder that is served.
type frontend struct {
	t    *testing.T
	dir  string
	at   time.Time // when its files were written first
	log  bytes.Buffer
	live bool
	*public.Frontend
}

func serve(t *testing.T, files map[string]string) *frontend {
	t.Helper()
	f := &frontend{t: t, dir: filepath.Join(t.TempDir(), "public"), at: time.Now()}
	f.Frontend = public.New(public.Config{Dir: f.dir, Live: func() bool { return f.live }, Logger: slog.New(slog.NewTextHandler(&f.log, nil))})
	for name, text := range files {
		f.put(name, text)
	}
	return f
}

// put writes a file, a second after it was written last.
func (f *frontend) put(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	at := f.at
	if old, err := os.Stat(path); err == nil {
		at = old.ModTime().Add(time.Second)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
		f.t.Fatal(err)
	}
}

// ask makes a request the way the site's table of routes does.
func (f *frontend) ask(verb, path string, headers ...string) *http.Response {
	f.t.Helper()
	r := httptest.NewRequest(verb, "http://site.test/", nil)
	r.URL.Path = path
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	page := f.Home(path)
	if page == nil {
		page = f.Page(path)
	}
	err := error(fault.Missing("nobody answers"))
	if page != nil {
		err = page(w, r, &route.Call{})
	}
	if err != nil {
		w.WriteHeader(fault.From(err).Status())
	}
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestFiles(t *testing.T) {
	f := serve(t, map[string]string{
		"index.html": "home", "about.html": "about", "shop/index.html": "shop", "app.css": "body{}", "assets/index-BfjHm0Zc.js": "1",
		"assets/validate-everything.js": "2", ".env": "SECRET=1", "_drafts/new.html": "draft", ".well-known/security.txt": "mail us", "data.bin": "x",
	})
	page := []string{"Accept", "text/html,*/*;q=0.8", "Sec-Fetch-Mode", "navigate"}
	for _, tt := range []struct {
		path    string
		headers []string
		status  int
		body    string
		typ     string
		cache   string
	}{
		{"/", nil, 200, "home", "text/html; charset=utf-8", "no-cache"},
		{"/about.html", nil, 200, "about", "text/html; charset=utf-8", "no-cache"},
		{"/shop/", nil, 200, "shop", "text/html; charset=utf-8", "no-cache"},
		{"/app.css", nil, 200, "body{}", "text/css; charset=utf-8", "no-cache"},
		{"/data.bin", nil, 200, "x", "application/octet-stream", "no-cache"},
		{"/assets/index-BfjHm0Zc.js", nil, 200, "1", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"/assets/validate-everything.js", nil, 200, "2", "text/javascript; charset=utf-8", "no-cache"},
		{"/.well-known/security.txt", nil, 200, "mail us", "text/plain; charset=utf-8", "no-cache"},
		{"/orders/17", page, 200, "home", "text/html; charset=utf-8", "no-cache"}, // a router's address
		{"/orders/17", nil, 404, "", "", ""},                                      // a program
		{"/orders/17", []string{"Accept", "text/html", "Sec-Fetch-Mode", "cors"}, 404, "", "", ""},
		{"/missing.js", page, 404, "", "", ""},
		{"/.env", page, 404, "", "", ""}, {"/_drafts/new.html", page, 404, "", "", ""}, {"/_headers", nil, 404, "", "", ""},
		{"/../secret.key", page, 404, "", "", ""}, {"/shop/../../x.txt", nil, 404, "", "", ""}, {"/a\\..\\b.txt", nil, 404, "", "", ""},
		{"/index.html\x00.css", nil, 404, "", "", ""}, {"/" + strings.Repeat("x", 5000) + ".css", nil, 404, "", "", ""}, {"/about.html/x.css", nil, 404, "", "", ""},
	} {
		r := f.ask("GET", tt.path, tt.headers...)
		if got := text(t, r); r.StatusCode != tt.status || got != tt.body || r.Header.Get("Content-Type") != tt.typ || r.Header.Get("Cache-Control") != tt.cache {
			t.Errorf("%q %q: %d %q %v", tt.path, tt.headers, r.StatusCode, got, r.Header)
		}
		if policy := r.Header.Get("Content-Security-Policy"); r.StatusCode == 200 && !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", tt.path, policy)
		}
	}
	if r := f.ask("GET", "/shop"); r.StatusCode != 308 || r.Header.Get("Location") != "./shop/" {
		t.Errorf("a folder without its slash: %d %v", r.StatusCode, r.Header)
	}
	if r := f.ask("POST", "/about.html"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", r.StatusCode, r.Header)
	}
}

// A link that leads out of the folder leads nowhere, and a pipe is not waited for.
func TestStaysInside(t *testing.T) {
	f := serve(t, map[string]string{"index.html": "home"})
	secret := filepath.Join(filepath.Dir(f.dir), "secret.key")
	if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Symlink(secret, filepath.Join(f.dir, "a.txt")), os.Symlink("..", filepath.Join(f.dir, "up"))); err != nil {
		t.Skip("no links here: ", err)
	}
	for _, path := range []string{"/a.txt", "/up/secret.key"} {
		if r := f.ask("GET", path); r.StatusCode != 404 {
			t.Errorf("%s: %d %s", path, r.StatusCode, text(t, r))
		}
	}
}

// Without a folder nobody answers, and once it is there its files do.
func TestFolderComesAndGoes(t *testing.T) {
	f := serve(t, nil)
	if f.Home("/") != nil || f.Page("/x") != nil {
		t.Error("a frontend that is not there answers")
	}
	f.put("x.txt", "one")
	if f.Home("/") != nil {
		t.Error("/ is answered without an index")
	}
	r := f.ask("GET", "/x.txt")
	tag := r.Header.Get("Etag")
	if text(t, r) != "one" || tag == "" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if r := f.ask("GET", "/x.txt", "If-None-Match", tag); r.StatusCode != 304 {
		t.Errorf("asked again: %d", r.StatusCode)
	}
	f.put("x.txt", "two")
	if r := f.ask("GET", "/x.txt", "If-None-Match", tag); r.StatusCode != 200 || text(t, r) != "two" {
		t.Errorf("after a change: %d", r.StatusCode)
	}
	if r := f.ask("GET", "/x.txt", "Range", "bytes=1-"); r.StatusCode != 206 || text(t, r) != "wo" {
		t.Errorf("a range: %d", r.StatusCode)
	}
}

func TestPrecompressed(t *testing.T) {
	f := serve(t, map[string]string{"app.js": "plain", "app.js.br": "small", "app.js.gz": "medium"})
	for accepted, want := range map[string]string{
		"": "plain", "identity": "plain", "gzip": "medium", "gzip, deflate, br": "small", "br;q=0, gzip;q=0.5": "medium", "br;q=0": "plain", "zstd": "plain",
	} {
		r := f.ask("GET", "/app.js", "Accept-Encoding", accepted)
		coding := map[string]string{"plain": "", "small": "br", "medium": "gzip"}[want]
		if got := text(t, r); got != want || r.Header.Get("Content-Encoding") != coding || r.Header.Get("Vary") != "Accept-Encoding" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/javascript") {
			t.Errorf("%q: %q %v", accepted, got, r.Header)
		}
	}
	f.put("app.js", "newer")
	if r := f.ask("GET", "/app.js", "Accept-Encoding", "br"); text(t, r) != "newer" {
		t.Error("what was compressed before a change is served after it")
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, "newer"); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	f.put("app.js.gz", packed.String())
	f.put("app.js.gz", packed.String())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f.Page(r.URL.Path)(w, r, &route.Call{}); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	r, err := http.Get(server.URL + "/app.js") // a client that unpacks it
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got := text(t, r); got != "newer" || !r.Uncompressed {
		t.Errorf("a client reads %q", got)
	}
}

func TestHeaders(t *testing.T) {
	f := serve(t, map[string]string{"index.html": "home", "embed/a.html": "a", "_headers": "# ours\n/embed/*\n  Content-Security-Policy: frame-ancestors *\n  referrer-policy:\n/\n\tX-Robots-Tag: noindex\n"})
	a, home := f.ask("GET", "/embed/a.html"), f.ask("GET", "/")
	if a.Header.Get("Content-Security-Policy") != "frame-ancestors *" || a.Header.Get("Referrer-Policy") != "" || a.Header.Get("X-Robots-Tag") != "" {
		t.Errorf("below a pattern: %v", a.Header)
	}
	if home.Header.Get("X-Robots-Tag") != "noindex" || home.Header.Get("Referrer-Policy") == "" {
		t.Errorf("the page of /: %v", home.Header)
	}
	for _, wrong := range []string{"/*\n  Set-Cookie: sid=1", "/*\n  Content-Security-Policy", "X-Frame-Options: DENY", "/*\n  X-Frame-Options: A\x01B", "index.html\n", strings.Repeat("/*\n", 30000)} {
		f.log.Reset()
		f.put("_headers", "/*\n  X-Frame-Options: SAMEORIGIN\n"+wrong)
		for range 2 {
			r := f.ask("GET", "/embed/a.html")
			if !strings.HasPrefix(r.Header.Get("Content-Security-Policy"), "default-src 'self'") || r.Header.Get("X-Frame-Options") != "" || r.Header.Get("Set-Cookie") != "" {
				t.Errorf("%.40q: %v", wrong, r.Header)
			}
		}
		if n := strings.Count(f.log.String(), "_headers"); n != 1 {
			t.Errorf("%.40q is logged %d times: %.300s", wrong, n, &f.log)
		}
	}
}

func TestTypeScript(t *testing.T) {
	f := serve(t, map[string]string{
		"index.html": `<script type="module" src="/main.ts"></script>`,
		"main.ts":    `import { greet } from "./lib/greet.js"; import names from "./names.json"; const who: string = names[0]; document.title = greet(who);`,
		"names.json": `["Zoe"]`, "lib/greet.ts": `export const greet = (name: string): string => "Hello " + name;`, "types.d.ts": "declare const x: number;",
	})
	first := f.ask("GET", "/main.ts")
	code := text(t, first)
	if first.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || !strings.Contains(code, `"Hello "`) || !strings.Contains(code, `"Zoe"`) || strings.Contains(code, ": string") {
		t.Fatalf("%v %s", first.Header, code)
	}
	if r := f.ask("GET", "/main.js"); text(t, r) != code {
		t.Error("/main.js is not what comes of main.ts")
	}
	tag := first.Header.Get("Etag")
	if r := f.ask("GET", "/main.ts", "If-None-Match", tag); r.StatusCode != 304 {
		t.Errorf("asked again: %d", r.StatusCode)
	}
	f.put("lib/greet.ts", `export const greet = (name: string): string => "Bye " + name;`)
	if r := f.ask("GET", "/main.ts", "If-None-Match", tag); !strings.Contains(text(t, r), `"Bye "`) {
		t.Error("a change of an import goes unnoticed")
	}
	f.put("lib/greet.js", `export const greet = () => "nearer";`)
	if r := f.ask("GET", "/main.ts"); !strings.Contains(text(t, r), `"nearer"`) {
		t.Error("a file that comes nearer goes unnoticed")
	}
}

// A mistake is thrown in the browser, with its place; nothing outside of the folder is
// read to tell it.
func TestTypeScriptMistakes(t *testing.T) {
	f := serve(t, map[string]string{"index.html": "home"})
	if err := os.WriteFile(filepath.Join(filepath.Dir(f.dir), "secret.json"), []byte(`"hunter2"`), 0o600); err != nil {
		t.Fatal(err)
	}
	f.put(".env.json", `"hunter2"`)
	for source, want := range map[string]string{
		"let x = ;\n": "main.ts:1:9: Unexpected", `import "../secret.json"`: "outside", `import "/../secret.json"`: "outside", `import "./.env.json"`: "outside",
		`import "react"`: "npm", `import "./nothing"`: "no file", `import "node:fs"`: "npm", `import "./a.exe"`: "no file",
	} {
		f.put("main.ts", source)
		r := f.ask("GET", "/main.ts")
		if got := text(t, r); r.StatusCode != 200 || !strings.HasPrefix(got, "throw new SyntaxError(") || !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
			t.Errorf("%q: %d %s", source, r.StatusCode, got)
		}
	}
	f.put("main.ts", "document.title = 'mended'")
	if r := f.ask("GET", "/main.ts"); !strings.Contains(text(t, r), "mended") {
		t.Error("a mended script stays broken")
	}
}
