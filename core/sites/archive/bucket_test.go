package archive_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"armature/core/sites"
	"armature/core/sites/archive"
	"armature/core/sites/sitetest"
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

	s, _ := sitetest.NewSet(t, func(c *sites.Config) { c.PassphraseWork = 10 })
	sitetest.Create(t, s, "default")
	settings, err := json.Marshal(map[string]string{"endpoint": server.URL, "bucket": "files", "access_key": "key", "secret_key": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	sitetest.Configure(t, s, "default", "file_storage", string(settings))
	s.Refresh(t.Context())
	s.Close("default")
	first := sitetest.Open(t, s, "default")
	content := strings.Repeat("bytes in a bucket ", 10_000)
	large, small := sitetest.KeepFile(t, first, "large.txt", content), sitetest.KeepFile(t, first, "small.txt", "few")
	own := objects()
	if len(own) != 2 {
		t.Fatalf("in the bucket: %v", own)
	}
	file := backedUp(t, s, "default")

	if _, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{As: "copy"}); err != nil {
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
	if status, _ := sitetest.ReadFile(first, large); status == 200 {
		t.Error("what is lost is still read")
	}
	if status, text := sitetest.ReadFile(sitetest.Open(t, s, "copy"), large); status != 200 || text != content {
		t.Errorf("the copy answers %d with %d bytes", status, len(text))
	}
	if _, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{As: "default", Replace: true}); err != nil {
		t.Fatal(err)
	}
	// What has been dropped shares nothing with what has taken its place.
	for _, key := range own {
		if slices.Contains(objects(), key) {
			t.Errorf("%s is of both sites", key)
		}
	}
	s.Refresh(t.Context())
	again := sitetest.Open(t, s, "default")
	for name, want := range map[string]string{large: content, small: "few"} {
		if status, text := sitetest.ReadFile(again, name); status != 200 || text != want {
			t.Errorf("restored, %s answers %d with %d bytes", name, status, len(text))
		}
	}
}
