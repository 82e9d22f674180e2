package sitetest

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/file"
	"armature/core/identity"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/tenant"
)

// NewSet makes the set of an installation of its own, without sites, until the test
// ends. Its Config is changed first.
func NewSet(t testing.TB, change ...func(*sites.Config)) (*sites.Set, datafolder.Layout) {
	t.Helper()
	layout := datafolder.Layout{Data: t.TempDir()}
	if err := layout.Make(); err != nil {
		t.Fatal(err)
	}
	master, err := site.LoadMaster(layout.MasterKey())
	if err != nil {
		t.Fatal(err)
	}
	c := sites.Config{Config: tenant.Config{Master: master, Version: "test"}, Layout: layout}
	for _, fn := range change {
		fn(&c)
	}
	s := sites.NewSet(c)
	t.Cleanup(s.CloseAll)
	return s, layout
}

// Config is that of another process on the data of a layout.
func Config(t testing.TB, layout datafolder.Layout) sites.Config {
	t.Helper()
	master, err := site.LoadMaster(layout.MasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return sites.Config{Config: tenant.Config{Master: master}, Layout: layout}
}

// Create makes a site.
func Create(t testing.TB, s *sites.Set, name string) *tenant.Tenant {
	t.Helper()
	on, err := s.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// Open opens a site.
func Open(t testing.TB, s *sites.Set, name string) *tenant.Tenant {
	t.Helper()
	on, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// Configure sets a key of a site's configuration to a JSON value.
func Configure(t testing.TB, s *sites.Set, name, key, value string) {
	t.Helper()
	_, err := s.Registry().Configure(t.Context(), name, func(c *site.Config) (*site.Config, error) {
		return c.With(key, json.RawMessage(value))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Acquired is the name of the site that answers a host; empty: none does.
func Acquired(t testing.TB, s *sites.Set, name string) string {
	t.Helper()
	edge, release, err := s.Acquire(t.Context(), name, httptest.NewRequest("GET", "/", nil))
	if errors.Is(err, fault.New(fault.NotFound, "", "")) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	return edge.Name
}

// ReadFile downloads a file.
func ReadFile(on *tenant.Tenant, url string) (status int, text string) {
	w := httptest.NewRecorder()
	if err := on.Files.ServeDownload(w, httptest.NewRequest("GET", url, nil), identity.Root()); err != nil {
		return 0, err.Error()
	}
	return w.Code, w.Body.String()
}

// KeepFile uploads a private file and returns its URL.
func KeepFile(t testing.TB, on *tenant.Tenant, name, content string) (url string) {
	t.Helper()
	d, err := on.Files.Receive(t.Context(), strings.NewReader(content), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	doc, err := on.Files.Upload(t.Context(), identity.Root(), d, file.Info{Name: name, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Text("file_url")
}
