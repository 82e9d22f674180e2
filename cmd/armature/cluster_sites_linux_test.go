package main_test

import (
	"net/http"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestSitesOfACluster: a site that is made, configured or dropped on one machine
// is so on all, which share a database and no disk. A machine that comes later
// with an empty data folder serves what the others serve.
func TestSitesOfACluster(t *testing.T) {
	c := newCluster(t, 3)
	c.start()
	shop := func(auth string) func(*armaturetest.Server) int {
		return func(s *armaturetest.Server) int { return s.On("shop.example", auth) }
	}
	answers := func(auth string, want int) func(*armaturetest.Server) bool {
		return func(s *armaturetest.Server) bool { return shop(auth)(s) == want }
	}
	on := func(machine int, args ...string) { t.Helper(); c.members[machine].in.Run(args...) }
	const none = http.StatusNotFound
	on(0, "site", "config", "default", "set", "hosts", `["docs.example"]`)
	c.within("that the default site answers no other host", answers("", none))

	on(0, "site", "new", "shop")
	on(1, "site", "config", "shop", "set", "hosts", `["shop.example"]`)
	auth := c.members[2].in.Keys("Administrator", "--site", "shop")
	c.within("a site", answers(auth, http.StatusOK))
	if _, stderr, err := c.members[2].in.Try("", "site", "new", "shop"); err == nil || !strings.Contains(stderr, "exist") {
		t.Errorf("made twice: %v %s", err, stderr)
	}
	if _, stderr, err := c.members[2].in.Try("", "site", "config", "shop", "set", "time_zone", `"Nowhere"`); err == nil || !strings.Contains(stderr, "time_zone") {
		t.Errorf("a wrong time zone: %v %s", err, stderr)
	}
	// Every server does what the one configuration says, now and later.
	on(2, "site", "config", "shop", "set", "rate_limit", `{"limit": 0.000001, "window": 3600}`)
	c.within("its limit", answers(auth, http.StatusTooManyRequests))
	on(0, "site", "config", "shop", "set", "rate_limit", "null")
	c.within("that it has none", answers(auth, http.StatusOK))

	late := &member{in: &armaturetest.Installation{T: t, Data: t.TempDir(), Database: c.pg.URL, Env: c.members[0].in.Env}, args: []string{"--log-level", "warn"}}
	late.Server = late.in.Serve(late.args...)
	if status := shop(auth)(late.Server); status != http.StatusOK {
		t.Errorf("a server that comes later answers %d", status)
	}
	c.members = append(c.members, late)
	want := c.members[0].in.Run("site", "list")
	for i, m := range c.members {
		if got := m.in.Run("site", "list"); got != want || !strings.Contains(got, "shop.example") {
			t.Errorf("machine %d lists\n%s", i, got)
		}
	}

	on(3, "site", "drop", "shop", "--yes")
	c.within("that it was dropped", answers(auth, none))
	on(1, "site", "drop", "shop", "--undo")
	c.within("that it is back", answers(auth, http.StatusOK))
	on(1, "site", "drop", "shop", "--yes")
	on(2, "site", "new", "shop")
	on(2, "site", "config", "shop", "set", "hosts", `["shop.example"]`)
	c.within("that another one is there", answers(auth, http.StatusUnauthorized)) // a key of the one before
	on(0, "site", "drop", "shop", "--yes", "--erase")
	c.within("that it is gone", answers(auth, none))
}
