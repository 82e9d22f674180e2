package sites_test

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// TestSlowStatements calls every statement slow, then none.
func TestSlowStatements(t *testing.T) {
	var log lockedText
	var slow atomic.Int64
	slow.Store(1)
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		slow.Store(1)
		log.reset()
		s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "hidden value"}).OK(t)
		s.Admin.Get("/api/resource/ToDo", "filters", [][]any{{"description", "=", "hidden value"}}).OK(t)
		text := log.String()
		for _, want := range []string{`level=WARN msg="slow statement" site=` + s.Tenant.Site.Name + " doctype=ToDo duration_us=", "INSERT INTO", "SELECT "} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
		if strings.Contains(text, "hidden") {
			t.Errorf("a value is in %s", text)
		}

		slow.Store(0)
		s.Admin.Get("/api/resource/ToDo").OK(t) // by now every statement before it has ended
		log.reset()
		s.Admin.Get("/api/resource/ToDo").OK(t)
		if text := log.String(); strings.Contains(text, "slow statement") {
			t.Errorf("switched off, and yet: %s", text)
		}
	}, func(c *sites.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.SlowStatement = func() time.Duration { return time.Duration(slow.Load()) }
	})
}

// lockedText is a log that is written and read at the same time.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedText) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}
