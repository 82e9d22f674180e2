package sites_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"armature/core/file"
	"armature/core/identity"
	"armature/core/sites"
	"armature/core/tenant"
)

// TestBackupOfABucket: the bytes of files that are in object storage are in the
// archive. A copy of the site has them in a folder of its own of the bucket, so
// that what is deleted on one stays on the other; what takes the site's place has
// them again after all of them were lost.
func TestBackupOfABucket(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	objects := func() (keys []string) {
		t.Helper()
		list, err := backend.ListBucket("files", nil, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Contents {
			keys = append(keys, o.Key)
		}
		return keys
	}

	s, _ := newSet(t, func(c *sites.Config) { c.PassphraseWork = 10 })
	create(t, s, "default")
	settings, err := json.Marshal(map[string]string{"endpoint": server.URL, "bucket": "files", "access_key": "key", "secret_key": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	configure(t, s, "default", "file_storage", string(settings))
	s.Refresh(t.Context())
	s.Close("default")
	first := open(t, s, "default")
	content := strings.Repeat("bytes in a bucket ", 10_000)
	large, small := keepFile(t, first, "large.txt", content), keepFile(t, first, "small.txt", "few")
	own := objects()
	if len(own) != 2 {
		t.Fatalf("in the bucket: %v", own)
	}
	archive := archive(t, s, "default")

	if _, err := s.Restore(t.Context(), archive, passphrase, sites.RestoreOptions{As: "copy"}); err != nil {
		t.Fatal(err)
	}
	if n := len(objects()); n != 4 {
		t.Errorf("in the bucket: %v", objects())
	}
	for _, key := range own {
		if _, err := backend.DeleteObject("files", key); err != nil {
			t.Fatal(err)
		}
	}
	if status, _ := readFile(first, large); status == 200 {
		t.Error("what is lost is still read")
	}
	if status, text := readFile(open(t, s, "copy"), large); status != 200 || text != content {
		t.Errorf("the copy answers %d with %d bytes", status, len(text))
	}
	if _, err := s.Restore(t.Context(), archive, passphrase, sites.RestoreOptions{As: "default", Replace: true}); err != nil {
		t.Fatal(err)
	}
	// What has been dropped shares nothing with what has taken its place.
	for _, key := range own {
		if slices.Contains(objects(), key) {
			t.Errorf("%s is of both sites", key)
		}
	}
	s.Refresh(t.Context())
	again := open(t, s, "default")
	for name, want := range map[string]string{large: content, small: "few"} {
		if status, text := readFile(again, name); status != 200 || text != want {
			t.Errorf("restored, %s answers %d with %d bytes", name, status, len(text))
		}
	}
}

func open(t *testing.T, s *sites.Set, name string) *tenant.Tenant {
	t.Helper()
	on, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// readFile downloads a file.
func readFile(on *tenant.Tenant, url string) (status int, text string) {
	w := httptest.NewRecorder()
	if err := on.Files.ServeDownload(w, httptest.NewRequest("GET", url, nil), identity.Root()); err != nil {
		return 0, err.Error()
	}
	return w.Code, w.Body.String()
}

// keepFile uploads a private file and returns its URL.
func keepFile(t *testing.T, on *tenant.Tenant, name, content string) (url string) {
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
