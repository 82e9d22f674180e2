package archive_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/backup"
	"armature/core/sites"
	"armature/core/sites/archive"
	"armature/core/sites/sitetest"
)

// Two servers on one database make one archive of each site for each hour, whichever
// of them; what the policy does not keep goes; and what is kept can be restored.
func TestBackupsBySchedule(t *testing.T) {
	eachPlace(t, func(t *testing.T, database *sites.Config) {
		to := t.TempDir()
		c, by, clock, meter := scheduled(t, to, onDatabase(database))
		one := serve(t, c)
		sitetest.Create(t, one, "shop")
		sitetest.Create(t, one, "shop-copy") // whose archives are none of the other's
		two := serve(t, c)
		rounds := []func(context.Context){archive.NewScheduler(one, by).Round, archive.NewScheduler(two, by).Round}
		for range 6 {
			var work sync.WaitGroup
			for _, round := range rounds {
				work.Go(func() { round(t.Context()) })
			}
			work.Wait()
			for _, round := range rounds {
				round(t.Context()) // nothing is due
			}
			clock.forward(time.Hour + time.Minute)
		}
		if meter.ok != 12 || meter.failed != 0 {
			t.Errorf("%d archives were made and %d failed", meter.ok, meter.failed)
		}
		want := []string{
			"shop/shop-20260301T160400Z.armature", "shop/shop-20260301T170500Z.armature",
			"shop-copy/shop-copy-20260301T160400Z.armature", "shop-copy/shop-copy-20260301T170500Z.armature",
		}
		slices.Sort(want)
		got := archives(t, to)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("kept are %v", got)
		}
		// A day later one of the day before stays.
		clock.forward(24 * time.Hour)
		rounds[1](t.Context())
		if got := archives(t, filepath.Join(to, "shop")); !slices.Equal(got, []string{"shop-20260301T170500Z.armature", "shop-20260302T180600Z.armature"}) {
			t.Errorf("a day later: %v", got)
		}
		done, err := archive.Restore(t.Context(), one, filepath.Join(to, got[len(got)-1]), passphrase, archive.RestoreOptions{As: "again"})
		if err != nil || done.Paused == "" {
			t.Errorf("%+v, %v", done, err)
		}
		if left, _ := filepath.Glob(filepath.Join(to, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// What fails is noted, counted and tried again a quarter of an hour later; no
// archive is deleted meanwhile, and nothing half made is left.
func TestBackupsThatFail(t *testing.T) {
	to := t.TempDir()
	c, by, clock, meter := scheduled(t, to)
	by.Keep = backup.Policy{Last: 1}
	s := serve(t, c)
	on := sitetest.Create(t, s, "shop")
	round := archive.NewScheduler(s, by).Round
	round(t.Context())
	before := archives(t, to)
	if len(before) != 1 {
		t.Fatalf("kept are %v", before)
	}
	runs := backup.Runs{Store: on.Store, Now: clock.time}
	state := func() backup.Run {
		t.Helper()
		run, err := runs.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	sitetest.KeepFile(t, on, "a.txt", "bytes that will be missing")
	away := t.TempDir()
	blobs := filepath.Join(c.Layout.Files("shop"), "blob")
	if err := os.Rename(blobs, filepath.Join(away, "blob")); err != nil {
		t.Fatal(err)
	}
	clock.forward(time.Hour + time.Minute)
	round(t.Context())
	if run := state(); meter.failed != 1 || !strings.Contains(run.Problem, "missing") || run.Done.Add(time.Minute).After(clock.time()) {
		t.Errorf("a file's bytes are missing: %d failed, %+v", meter.failed, run)
	}
	round(t.Context())
	if meter.failed != 1 {
		t.Error("it is tried again at once")
	}
	if got := archives(t, to); !slices.Equal(got, before) {
		t.Errorf("after the failure there are %v", got)
	}
	if err := os.Rename(filepath.Join(away, "blob"), blobs); err != nil {
		t.Fatal(err)
	}
	clock.forward(16 * time.Minute)
	round(t.Context())
	if run := state(); meter.ok != 2 || run.Problem != "" || run.File == "" || run.Size == 0 || run.Records == 0 {
		t.Errorf("with the bytes back: %d made, %+v", meter.ok, run)
	}
	if got := archives(t, to); len(got) != 1 || slices.Equal(got, before) {
		t.Errorf("at the end there are %v", got)
	}
}

// A server that is killed in the middle of a backup keeps no other from making it.
func TestBackupLeaseGrowsOld(t *testing.T) {
	c, _, clock, _ := scheduled(t, t.TempDir())
	on := sitetest.Create(t, serve(t, c), "shop")
	runs := backup.Runs{Store: on.Store, Now: clock.time}
	first, _, err := runs.Take(t.Context(), time.Hour)
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	take := func(when string, want bool) {
		t.Helper()
		if l, _, err := runs.Take(t.Context(), time.Hour); err != nil || (l != nil) != want {
			t.Errorf("%s another gets %v, %v", when, l, err)
		}
	}
	take("at once", false)
	clock.forward(4 * time.Minute)
	if err := first.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	clock.forward(4 * time.Minute)
	take("while it is renewed", false)
	clock.forward(12 * time.Minute)
	take("when it is old", true)
	if err := first.End(t.Context(), backup.Run{Done: clock.time()}); err == nil {
		t.Error("who has lost the lease notes an archive")
	}
}
