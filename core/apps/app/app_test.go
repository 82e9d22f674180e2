package app_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"armature/core/apps/app"
)

func ExampleParse() {
	routes, err := app.Parse(map[string]string{"GET /shop/{slug}": "acme.shop.page", "POST /order": "acme.shop.order"})
	if err != nil {
		fmt.Println(err)
	}
	found, ok := routes.Find("GET", &url.URL{Path: "/shop/red shoes"})
	fmt.Println(ok, found.Method, found.Values)
	found, _ = routes.Find("GET", &url.URL{Path: "/order"})
	fmt.Println(found.Allow)
	// Output:
	// true acme.shop.page [[slug red shoes]]
	// POST
}

// TestRefused: a route that is none, and one whose requests another has, are refused with
// both named.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		routes string
		want   string // empty: they are taken
	}{
		{"GET /{$},GET /a/{x},GET /a/b,POST /a/{x},GET /files/{rest...}", ""},
		{"GET /a/{x},GET /a/{y}", `"GET /a/{y}": some requests are those of "GET /a/{x}" as well`},
		{"GET /a/{x},GET /{y}/b", `are those of "GET /a/{x}" as well`},
		{"/a", "expected one of GET, POST"}, {"PATCH /a", "expected one of"}, {"GET a", "expected one of"},
		{"GET example.com/a", "expected one of"}, {"GET  /a", "expected one of"}, {"GET /a?b", "expected one of"},
		{"GET /-/login", "the platform's"}, {"GET /-", "the platform's"},
		{"GET /a/{x", "no pattern"}, {"GET /{x}/{x}", "no pattern"}, {"GET /{x...}/a", "no pattern"},
		{"GET /" + strings.Repeat("a", 600), "longer than"},
	} {
		routes := map[string]string{}
		for route := range strings.SplitSeq(tt.routes, ",") {
			routes[route] = "acme.shop.page"
		}
		_, err := app.Parse(routes)
		var of *app.RouteError
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &of) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), ".go:")) {
			t.Errorf("%s: %v, want %q", tt.routes, err, tt.want)
		}
	}
}

// TestFind: a path comes to the route that says most precisely what it is of, whichever way
// it was written.
func TestFind(t *testing.T) {
	routes, err := app.Parse(map[string]string{"GET /{$}": "home", "GET /a/{x}": "one", "GET /a/new": "new", "GET /rest/{all...}": "rest", "POST /a/{x}": "change"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ verb, path, want string }{
		{"GET", "/", "home []"}, {"HEAD", "/a/7", "one [[x 7]]"}, {"GET", "/a/new", "new []"}, {"POST", "/a/new", "change [[x new]]"},
		{"GET", "/a/b%2Fc", "one [[x b/c]]"}, {"GET", "/rest/b/c", "rest [[all b/c]]"}, {"GET", "/a/%7Bx%7D", "one [[x {x}]]"},
		{"DELETE", "/a/7", "not DELETE but GET, HEAD, POST"}, {"GET", "/b", "nothing"}, {"GET", "/a/../a/7", "at /a/7"}, {"GET", "//a/7", "at /a/7"},
	} {
		path, err := url.Parse("http://app" + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		found, ok := routes.Find(tt.verb, path)
		got := "nothing"
		switch {
		case found.Method != "":
			got = fmt.Sprint(found.Method, " ", found.Values)
		case found.Allow != "":
			got = "not " + tt.verb + " but " + found.Allow
		case found.To != "":
			got = "at " + found.To
		}
		if got != tt.want || ok != (got != "nothing") {
			t.Errorf("%s %s: %s, want %s", tt.verb, tt.path, got, tt.want)
		}
	}
	if _, ok := (*app.Routes)(nil).Find("GET", &url.URL{Path: "/"}); ok {
		t.Error("no routes found something")
	}
}

// TestLabel: no two plugins have the same host.
func TestLabel(t *testing.T) {
	taken := map[string]string{}
	for name, want := range map[string]string{
		"shop": "shop", "acme.shop": "acme-shop", "acme_shop": "acme--shop", "acme_.shop": "acme---shop", "acme__shop": "acme----shop",
		"acme.todo_list": "acme-todo--list", "xn_a": "", "a_": "", strings.Repeat("a", 64): "",
	} {
		label, ok := app.Label(name)
		if other := taken[label]; other != "" || ok != (want != "") || ok && label != want {
			t.Errorf("%s: %s %t, as %s", name, label, ok, other)
		}
		taken[label] = name
	}
}

func read(files map[string]string) ([]string, func(string) ([]byte, error)) {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	return names, func(name string) ([]byte, error) { return []byte(files[name]), nil }
}

// TestFiles: a file comes out as it went in, packed and not.
func TestFiles(t *testing.T) {
	long := strings.Repeat("a line of the page\n", 1000)
	content := map[string]string{"index.html": long, "logo.png": "png", "js/main.ts": "code", "empty.css": ""}
	archive, err := app.Pack(read(content))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := app.Pack(read(content)); err != nil || !bytes.Equal(again, archive) || len(archive) > len(long)/4 {
		t.Errorf("packed again it is another archive, or it is a long one: %d bytes, %v", len(archive), err)
	}
	files, err := app.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range content {
		f := files.Get(name)
		if f == nil {
			t.Fatalf("%s is not there", name)
		}
		if plain := f.Plain(); plain != nil {
			got, err := io.ReadAll(plain)
			if err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			continue
		}
		var unpacked bytes.Buffer
		if err := f.Unpack(&unpacked); err != nil || unpacked.String() != want {
			t.Errorf("%s: %d bytes, %v", name, unpacked.Len(), err)
		}
		r, err := gzip.NewReader(bytes.NewReader(bytes.Join(f.Gzip(), nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%s by gzip: %d bytes, %v", name, len(got), err)
		}
	}
	if files.Get("js/main.js") == nil || files.Get("js") != nil || files.Get("none") != nil || !files.HasFolder("js") || files.HasFolder("none") {
		t.Error("what there is, is not told from what there is not")
	}
	if files.Get("index.html").Tag() == files.Get("empty.css").Tag() {
		t.Error("two files have one tag")
	}
}

// TestHostileArchives: what somebody has put together by hand is refused, or is no more
// than it says.
func TestHostileArchives(t *testing.T) {
	archive := func(change func(*zip.FileHeader), names ...string) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for _, name := range names {
			h := &zip.FileHeader{Name: name, Method: zip.Deflate}
			change(h)
			w, err := z.CreateHeader(h)
			if err == nil && !strings.HasSuffix(name, "/") {
				_, err = w.Write([]byte("content"))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	as := func(*zip.FileHeader) {}
	raw := func(size uint64) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w, err := z.CreateRaw(&zip.FileHeader{Name: "a", Method: zip.Deflate, CompressedSize64: 3, UncompressedSize64: size, CRC32: 1})
		if err == nil {
			_, err = w.Write([]byte{3, 0, 0})
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	many := make([]string, app.MaxFiles+1)
	for i := range many {
		many[i] = fmt.Sprint("f", i)
	}
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"text":           {[]byte("hello"), "no archive"},
		"out of it":      {archive(as, "../a"), "no path"},
		"absolute":       {archive(as, "/a"), "no path"},
		"Windows":        {archive(as, `a\b`), "no path"},
		"hidden":         {archive(as, "a/.git/config"), "never served"},
		"_headers":       {archive(as, "_headers"), "never served"},
		"the platform's": {archive(as, "-/login"), "the platform's"},
		"a folder":       {archive(as, "a/"), "no path"},
		"twice":          {archive(as, "a", "a"), "twice"},
		"file, folder":   {archive(as, "a", "a/b"), "a file and a folder"},
		"a link":         {archive(func(h *zip.FileHeader) { h.SetMode(0o777 | 1<<27) }, "a"), "no plain file"},
		"too many":       {archive(as, many...), "more than"},
		"a bomb":         {raw(1 << 40), "over 64 MiB"},
	} {
		if _, err := app.Open(tt.archive); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	files, err := app.Open(raw(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Get("a").Unpack(io.Discard); err == nil {
		t.Error("a file of another size than the archive says was unpacked without a word")
	}
	for _, name := range []string{"_headers", ".env", "-/login"} {
		if _, err := app.Pack(read(map[string]string{name: ""})); err == nil {
			t.Errorf("%s was packed", name)
		}
	}
}
