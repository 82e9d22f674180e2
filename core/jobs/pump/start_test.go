package pump_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"armature/core/jobs"
	"armature/core/jobs/pump"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// Processes that start together on an empty database all run jobs.
func TestStartTogether(t *testing.T) {
	var c sites.Config
	sitetest.OnPostgres(t, &c)
	of := config(&c, nil)
	var starting sync.WaitGroup
	for range 6 {
		p := pump.New(of)
		starting.Go(func() {
			if err := p.Start(t.Context()); err != nil {
				t.Error(err)
			}
		})
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
}

// One that cannot start can be closed.
func TestCannotStart(t *testing.T) {
	p := pump.New(pump.Config{
		Database: filepath.Join(t.TempDir(), "missing", "jobs.db"),
		Borrow:   func(context.Context, string) (*jobs.Queue, func(), error) { return nil, nil, fs.ErrNotExist },
	})
	if err := p.Start(t.Context()); err == nil {
		t.Error("started without a folder")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	q := pump.New(pump.Config{Database: filepath.Join(t.TempDir(), "jobs.db")})
	if err := q.Mark(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := q.Start(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("started with an ended context: %v", err)
	}
	for _, one := range []*pump.Pump{p, q} {
		if err := one.Close(); err != nil {
			t.Error(err)
		}
	}
}
