package archive_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"armature/core/site"
	"armature/core/sites/archive"
	"armature/core/sites/sitetest"
)

// A site may have a bucket of its own. A copy of it leaves that alone until it is
// resumed: it would keep and delete archives there that are the original's.
func TestBackupsToABucket(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("archives"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	objects := func() (keys []string) {
		t.Helper()
		list, err := backend.ListBucket("archives", nil, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Contents {
			keys = append(keys, o.Key)
		}
		return keys
	}
	c, by, clock, meter := scheduled(t, "")
	s := serve(t, c)
	sitetest.Create(t, s, "shop")
	round := archive.NewScheduler(s, by).Round
	round(t.Context())
	if meter.ok+meter.failed != 0 {
		t.Fatal("there is a backup and no place for it")
	}
	settings, err := json.Marshal(map[string]any{"every": "2h", "keep": map[string]int{"last": 2}, "bucket": map[string]string{
		"endpoint": server.URL, "bucket": "archives", "prefix": "armature", "access_key": "key", "secret_key": "secret",
	}})
	if err != nil {
		t.Fatal(err)
	}
	sitetest.Configure(t, s, "shop", "backup", string(settings))
	s.Refresh(t.Context())
	for range 3 {
		round(t.Context())
		clock.forward(time.Hour + time.Minute)
		round(t.Context())
		clock.forward(time.Hour + time.Minute)
	}
	want := []string{"armature/shop/shop-20260301T140200Z.armature", "armature/shop/shop-20260301T160400Z.armature"}
	if got := objects(); !slices.Equal(got, want) {
		t.Errorf("in the bucket: %v", got)
	}
	object, err := backend.GetObject("archives", want[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer object.Contents.Close()
	file := filepath.Join(t.TempDir(), "fetched.armature")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadFrom(object.Contents); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	there, layout := sitetest.NewSet(t)
	there.CloseAll()
	c.Layout, c.Master = layout, sitetest.Config(t, layout).Master
	other := serve(t, c)
	if _, err := archive.Restore(t.Context(), other, file, passphrase, archive.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	elsewhere := archive.NewScheduler(other, by).Round
	elsewhere(t.Context())
	if got := objects(); !slices.Equal(got, want) {
		t.Errorf("after a copy began, in the bucket: %v", got)
	}
	if news, err := other.Pause(t.Context(), "shop", ""); err != nil || !news {
		t.Fatal(news, err)
	}
	clock.forward(2 * time.Minute)
	elsewhere(t.Context())
	if got := objects(); len(got) != 2 || slices.Equal(got, want) {
		t.Errorf("after it was resumed, in the bucket: %v", got)
	}
}

// Settings that make no sense are refused when they are set.
func TestBackupSettings(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	sitetest.Create(t, s, "shop")
	for value, says := range map[string]string{
		`{"every": "never"}`:                         "",
		`{"every": "6h", "keep": {"yearly": 1}}`:     "",
		`{"folder": "/srv/backups"}`:                 "",
		`{"every": "1s"}`:                            "at least a minute",
		`{"every": 5}`:                               "backup must be",
		`{"evry": "1h"}`:                             "evry",
		`{"keep": {"last": 0}}`:                      "no archive would be kept",
		`{"keep": {"last": -1}}`:                     "below 0",
		`{"folder": "backups"}`:                      "absolute",
		`{"folder": "/a", "bucket": {"bucket":"b"}}`: "one of them",
		`{"bucket": {}}`:                             "no bucket",
	} {
		_, err := s.Registry().Configure(t.Context(), "shop", func(c *site.Config) (*site.Config, error) {
			return c.With("backup", json.RawMessage(value))
		})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", value, err)
		}
	}
	if err := (&archive.Schedule{To: "s3://key:secret@bucket/x"}).Check(); err == nil || strings.Contains(err.Error(), "secret@") {
		t.Errorf("credentials in a URL: %v", err)
	}
	if err := (&archive.Schedule{To: "s3:///x"}).Check(); err == nil {
		t.Errorf("no bucket: %v", err)
	}
}
