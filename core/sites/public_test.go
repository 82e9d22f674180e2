package sites_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// What the platform answers no file of a frontend does, whatever it is called; the rest
// of the address is the frontend's, which nobody has to log in for.
func TestFrontend(t *testing.T) {
	var layout sites.Layout
	s := sitetest.New(t, "", func(c *sites.Config) { layout = c.Layout })
	folders, err := filepath.Glob(filepath.Join(layout.Sites(), "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	public := layout.Public(filepath.Base(folders[0]))
	put := func(name string) {
		t.Helper()
		path := filepath.Join(public, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("ours: "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := s.Guest.Get("/"); strings.HasPrefix(r.Text, "ours") {
		t.Fatal(r.Text)
	}
	reserved := []string{
		"login", "app", "app/password", "app/authorized-apps", "update-password", "forgot-password", "logout", "healthz", "readyz", "api/method/ping",
		"api/openapi.json", "api/resource/ToDo", "files/x.txt", "private/files/x.txt", ".well-known/openid-configuration", "favicon.svg",
	}
	for _, name := range append([]string{"index.html", "about.html", "nothing/here"}, reserved...) {
		if !strings.Contains(name, "app/") { // app is a file here
			put(name)
		}
	}
	for path, want := range map[string]string{"/": "ours: index.html", "/about.html": "ours: about.html", "/nothing/here": "ours: nothing/here"} {
		if r := s.Guest.Get(path); r.Status != 200 || r.Text != want {
			t.Errorf("%s: %d %s", path, r.Status, r.Text)
		}
	}
	for _, name := range reserved {
		if r := s.Guest.Get("/" + name); strings.HasPrefix(r.Text, "ours: ") {
			t.Errorf("/%s is answered by a file", name)
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
