package web_test

import (
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// TestActivitiesAreKept for as long as the site says, and no longer.
func TestActivitiesAreKept(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		count := func() int {
			t.Helper()
			return len(s.Admin.Get("/api/resource/Activity%20Log", "limit", "0").List(t))
		}
		sweep := func() {
			t.Helper()
			if err := s.Tenant.Auth.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		old := count()
		if old == 0 {
			t.Fatal("nothing was recorded")
		}
		c.advance(80 * 24 * time.Hour)
		loggedIn(t, s, jane)
		sweep()
		if n := count(); n != old+1 {
			t.Errorf("%d records after 80 days, want %d", n, old+1)
		}
		c.advance(11 * 24 * time.Hour)
		sweep()
		if n := count(); n != 1 {
			t.Errorf("%d records after 91 days, want the last login", n)
		}
		configure(t, s, "activity_log_retention_days", "10")
		sweep()
		if n := count(); n != 0 {
			t.Errorf("%d records after 11 days of 10", n)
		}
	})
}
