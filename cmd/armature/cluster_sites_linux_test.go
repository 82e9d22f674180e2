package main_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestSitesOfACluster: a site that is made, configured or dropped on one machine
// is so on all, which share a database and no disk. A machine that comes later
// with an empty data folder serves what the others serve.
func TestSitesOfACluster(t *testing.T) {
	c := newCluster(t, 3)
	c.start()
	shop := func(auth string) func(*server) int {
		return func(s *server) int { return s.on("shop.example", auth) }
	}
	answers := func(auth string, want int) func(*server) bool {
		return func(s *server) bool { return shop(auth)(s) == want }
	}
	on := func(machine int, args ...string) { t.Helper(); c.members[machine].in.run(args...) }
	const none = http.StatusNotFound
	on(0, "site", "config", "default", "set", "hosts", `["docs.example"]`)
	c.within("that the default site answers no other host", answers("", none))

	on(0, "site", "new", "shop")
	on(1, "site", "config", "shop", "set", "hosts", `["shop.example"]`)
	auth := c.members[2].in.keys("Administrator", "--site", "shop")
	c.within("a site", answers(auth, http.StatusOK))
	if _, stderr, err := c.members[2].in.try("", "site", "new", "shop"); err == nil || !strings.Contains(stderr, "exist") {
		t.Errorf("made twice: %v %s", err, stderr)
	}
	if _, stderr, err := c.members[2].in.try("", "site", "config", "shop", "set", "time_zone", `"Nowhere"`); err == nil || !strings.Contains(stderr, "time_zone") {
		t.Errorf("a wrong time zone: %v %s", err, stderr)
	}
	// Every server does what the one configuration says, now and later.
	on(2, "site", "config", "shop", "set", "rate_limit", `{"limit": 0.000001, "window": 3600}`)
	c.within("its limit", answers(auth, http.StatusTooManyRequests))
	on(0, "site", "config", "shop", "set", "rate_limit", "null")
	c.within("that it has none", answers(auth, http.StatusOK))

	late := &member{in: &installation{t: t, data: t.TempDir(), database: c.pg.url, env: c.members[0].in.env}, args: []string{"--log-level", "warn"}}
	late.server = late.in.serve(late.args...)
	if status := shop(auth)(late.server); status != http.StatusOK {
		t.Errorf("a server that comes later answers %d", status)
	}
	c.members = append(c.members, late)
	want := c.members[0].in.run("site", "list")
	for i, m := range c.members {
		if got := m.in.run("site", "list"); got != want || !strings.Contains(got, "shop.example") {
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

// on asks a site who is asking, and returns the status.
func (s *server) on(host, auth string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/method/framework.auth.get_logged_user", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = host
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.log)
	}
	res.Body.Close()
	return res.StatusCode
}
