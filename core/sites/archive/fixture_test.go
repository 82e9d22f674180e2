package archive_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/backup"
	"armature/core/sites"
	"armature/core/sites/archive"
	"armature/core/sites/sitetest"
)

// hand is a clock that stands still until it is set forward.
type hand struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hand) time() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) forward(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// counted is a meter of backups.
type counted struct {
	mu         sync.Mutex
	ok, failed int
	known      map[string]time.Time
}

func (c *counted) Ended(site string, done time.Time, _ time.Duration, bytes int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed++
	} else if bytes > 0 {
		c.ok++
		c.known[site] = done
	}
}
func (c *counted) Known(string, time.Time, bool) {}
func (c *counted) Forget(string)                 {}

// scheduled is an installation whose sites are backed up by schedule.
func scheduled(t *testing.T, to string, change ...func(*sites.Config)) (c sites.Config, by archive.Schedule, clock *hand, meter *counted) {
	t.Helper()
	_, layout := sitetest.NewSet(t)
	c = sitetest.Config(t, layout)
	clock, meter = &hand{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, &counted{known: map[string]time.Time{}}
	c.Clock, c.PassphraseWork = clock.time, 10
	by = archive.Schedule{
		Schedule: backup.Schedule{Every: time.Hour, Keep: backup.Policy{Last: 2, Daily: 2}}, To: to,
		Passphrase: func() (string, error) { return passphrase, nil }, Meter: meter,
	}
	for _, fn := range change {
		fn(&c)
	}
	return c, by, clock, meter
}

func serve(t *testing.T, c sites.Config) *sites.Set {
	t.Helper()
	s := sites.NewSet(c)
	t.Cleanup(s.CloseAll)
	return s
}

// archives lists what is in a folder, without the folder's own.
func archives(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func eachPlace(t *testing.T, test func(t *testing.T, c *sites.Config)) {
	t.Run("SQLite", func(t *testing.T) { test(t, &sites.Config{}) })
	t.Run("PostgreSQL", func(t *testing.T) {
		c := &sites.Config{}
		sitetest.OnPostgres(t, c)
		test(t, c)
	})
}

func onDatabase(from *sites.Config) func(*sites.Config) {
	return func(c *sites.Config) { c.Database, c.Registry = from.Database, from.Registry }
}
