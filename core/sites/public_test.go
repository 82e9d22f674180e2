package sites_test

import (
	"archive/zip"
	"bytes"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/sitetest"
)

// The rest of the address is the frontend's, which nobody has to log in for.
func TestFrontend(t *testing.T) {
	var layout datafolder.Layout
	s := sitetest.New(t, "", func(c *sites.Config) { layout = c.Layout })
	folders, err := filepath.Glob(filepath.Join(layout.Sites(), "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	public := layout.Public(filepath.Base(folders[0]))
	put := func(name string) { t.Helper(); putOurs(t, public, name) }
	if r := s.Guest.Get("/"); strings.HasPrefix(r.Text, "ours") {
		t.Fatal(r.Text)
	}
	for _, name := range []string{"index.html", "about.html", "nothing/here"} {
		put(name)
	}
	for path, want := range map[string]string{"/": "ours: index.html", "/about.html": "ours: about.html", "/nothing/here": "ours: nothing/here"} {
		if r := s.Guest.Get(path); r.Status != 200 || r.Text != want {
			t.Errorf("%s: %d %s", path, r.Status, r.Text)
		}
	}
	request, err := http.NewRequest(http.MethodGet, s.URL+"/about.html", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Service-Worker", "script")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusForbidden {
		t.Errorf("a service worker is served: %d", r.StatusCode)
	}
}

// putOurs puts a file into a frontend that says which it is.
func putOurs(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("ours: "+name), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReserved: what the platform answers no file of a frontend does, at each path that
// a service of the site has registered, below it, and at those of the server; and no
// such file can be published.
func TestReserved(t *testing.T) {
	var layout datafolder.Layout
	s := sitetest.New(t, "", func(c *sites.Config) { layout = c.Layout })
	folders, err := filepath.Glob(filepath.Join(layout.Sites(), "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	public := layout.Public(filepath.Base(folders[0]))
	paths := s.Tenant.Paths()
	if len(paths) < 12 { // those of logging in, OAuth and files
		t.Fatalf("the router has %q", paths)
	}
	paths = append(paths, "/api/", "/api/method/ping", "/api/openapi.json", "/api/resource/ToDo", "/api/v1/resource/ToDo", "/healthz", "/readyz")
	for _, path := range paths {
		name := strings.TrimPrefix(path, "/")
		for _, file := range []string{strings.TrimSuffix(name, "/"), strings.TrimSuffix(name, "/") + "/below.html"} {
			if strings.HasSuffix(file, "/below.html") && (path == "/healthz" || path == "/readyz") {
				continue // there is nothing below them
			}
			if err := os.RemoveAll(public); err != nil {
				t.Fatal(err)
			}
			putOurs(t, public, "index.html")
			putOurs(t, public, file)
			for _, ask := range []string{"/" + file, path} {
				if r := s.Guest.Get(ask); strings.Contains(r.Text, "ours: ") {
					t.Errorf("%s is answered by the file %s", ask, file)
				}
			}
			if r := publishFiles(t, s.Admin, "index.html", file); r.Status != 417 || !strings.Contains(r.Text, "the platform answers that path itself") {
				t.Errorf("%s is published: %d %s", file, r.Status, r.Text)
			}
		}
	}
}

// publishFiles publishes a frontend of files that say which they are.
func publishFiles(t *testing.T, c *sitetest.Client, names ...string) *sitetest.Reply {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "site.zip")
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(part)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte("published: " + name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if z.Close() != nil || form.Close() != nil {
		t.Fatal("in memory")
	}
	return c.Do("POST", "/api/method/framework.frontend.publish", form.FormDataContentType(), body.Bytes())
}

// TestPublish goes through the whole server: who may, what is served then, what counts
// for the quota, and the way back.
func TestPublish(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		clerk := s.User(t, "clerk@example.com")
		publishFiles(t, clerk, "index.html").Fails(t, 403, "PermissionError")
		publishFiles(t, s.Guest, "index.html").Fails(t, 403, "PermissionError")
		manager := s.User(t, "manager@example.com", "System Manager")
		publishFiles(t, manager, "about.html").Fails(t, 417, "ValidationError")
		manager.Post("/api/method/framework.frontend.publish", map[string]any{"file": "x"}).Fails(t, 417, "ValidationError")
		served := func(path, want string) {
			t.Helper()
			if r := s.Guest.Get(path); !strings.HasPrefix(r.Text, want) {
				t.Errorf("%s: %d %.100s, want %s", path, r.Status, r.Text, want)
			}
		}
		publishFiles(t, manager, "index.html", "assets/index-BfjHm0Zc.js", "one.html").OK(t)
		served("/", "published: index.html")
		publishFiles(t, manager, "index.html", "assets/index-CgkIn1Ad.js").OK(t)
		served("/assets/index-CgkIn1Ad.js", "published: ")
		served("/assets/index-BfjHm0Zc.js", "published: ") // a page that is open still asks for it
		if r := s.Guest.Get("/one.html"); r.Status != 404 {
			t.Errorf("a file of the version before: %d", r.Status)
		}
		if n := len(manager.Get("/api/method/framework.frontend.versions").Message(t).([]any)); n != 2 {
			t.Errorf("%d versions", n)
		}
		used := func() float64 {
			t.Helper()
			all := s.Admin.Get("/api/method/framework.site.usage").Message(t).(map[string]any)
			return all["file_bytes"].(map[string]any)["used"].(float64)
		}
		if n := used(); n != 131 {
			t.Errorf("%v bytes are used", n)
		}
		s.Configure(t, "quotas", `{"file_bytes": 150}`)
		publishFiles(t, manager, "index.html").Fails(t, 507, "QuotaExceededError")
		manager.Post("/api/method/framework.frontend.rollback", map[string]any{}).OK(t)
		served("/one.html", "published: ")
		manager.Post("/api/method/framework.frontend.rollback", map[string]any{}).OK(t)
		if r := s.Guest.Get("/"); strings.HasPrefix(r.Text, "published") {
			t.Errorf("without a version: %s", r.Text)
		}
		manager.Post("/api/method/framework.frontend.rollback", map[string]any{}).Fails(t, 417, "ValidationError")
	})
}

// TestPublishShared: servers whose folders of published frontends are one folder serve what
// is published on any of them, and what is taken back is taken back on all.
func TestPublishShared(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		twin := s.Twin(t) // of the same folder
		serves := func(c *sitetest.Client, path, want string) {
			t.Helper()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				r := c.Get(path)
				if strings.HasPrefix(r.Text, want) {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: %d %.100s, want %s", path, r.Status, r.Text, want)
				}
			}
		}
		publishFiles(t, s.Admin, "index.html", "one.html").OK(t)
		serves(twin.Guest, "/one.html", "published: one.html")
		publishFiles(t, twin.Admin, "index.html", "two.html").OK(t)
		serves(s.Guest, "/two.html", "published: two.html")
		s.Admin.Post("/api/method/framework.frontend.rollback", map[string]any{}).OK(t)
		serves(twin.Guest, "/one.html", "published: one.html")
	})
}
