package ratelimit_test

import (
	"net/http"
	"testing"
	"time"
)

// Europe/Berlin sets its clocks forward on 2026-03-29 at 02:00 and back on
// 2026-10-25 at 03:00, both at 01:00 UTC.
func TestWindowsFollowTheWallClock(t *testing.T) {
	tests := []struct {
		name   string
		zone   string
		window string
		at     string // UTC
		reset  string
	}{
		{"an hour of UTC", "UTC", "3600", "2026-03-01 10:15:00", "2700"},
		{"half hours east of UTC", "Asia/Kolkata", "3600", "2026-03-01 10:15:00", "900"},
		{"a day begins at local midnight", "America/New_York", "86400", "2026-03-01 04:59:59", "1"},
		{"and ends there", "America/New_York", "86400", "2026-03-01 05:00:00", "86400"},
		{"a window of a second and a half", "UTC", "1.5", "1970-01-01 00:00:04", "1"},
		{"its next", "UTC", "1.5", "1970-01-01 00:00:05", "1"},

		{"before summer time", "Europe/Berlin", "3600", "2026-03-29 00:59:59", "1"},
		{"summer time", "Europe/Berlin", "3600", "2026-03-29 01:00:00", "3600"},
		{"its first hour", "Europe/Berlin", "3600", "2026-03-29 01:59:59", "1"},
		{"its second", "Europe/Berlin", "3600", "2026-03-29 02:00:00", "3600"},
		{"a window that would last until 03:00, cut at 02:00", "Europe/Berlin", "10800", "2026-03-29 00:00:00", "3600"},
		{"the rest of it has no time", "Europe/Berlin", "10800", "2026-03-29 01:00:00", "10800"},
		{"a day until the change", "Europe/Berlin", "86400", "2026-03-28 23:00:00", "7200"},
		{"the same day after it", "Europe/Berlin", "86400", "2026-03-29 01:00:00", "75600"},

		{"the last summer hour", "Europe/Berlin", "3600", "2026-10-25 00:00:00", "3600"},
		{"its end", "Europe/Berlin", "3600", "2026-10-25 00:59:59", "1"},
		{"the same hour again", "Europe/Berlin", "3600", "2026-10-25 01:00:00", "3600"},
		{"its end", "Europe/Berlin", "3600", "2026-10-25 01:59:59", "1"},
		{"the first hour that was not there before", "Europe/Berlin", "3600", "2026-10-25 02:00:00", "3600"},
		{"a day until the change", "Europe/Berlin", "86400", "2026-10-24 22:00:00", "10800"},
		{"the same day after it", "Europe/Berlin", "86400", "2026-10-25 01:00:00", "79200"},

		{"a change of the zone's name, not of its offset", "Europe/Lisbon", "86400", "1992-09-27 00:00:00", "82800"},
		{"a window across many changes ends at the first", "Europe/Berlin", "31536000", "2026-01-01 00:00:00", "7520400"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := mustTime(t, "UTC", tt.at)
			l := newLimiter(t, `{"time_zone": "`+tt.zone+`", "rate_limit": {"limit": 100, "window": `+tt.window+`}}`, newClock(at))
			h := make(http.Header)
			if _, err := l.Begin(t.Context(), h, at); err != nil {
				t.Fatal(err)
			}
			if got := h.Get("X-RateLimit-Reset"); got != tt.reset {
				t.Errorf("reset %s, want %s", got, tt.reset)
			}
		})
	}
}

// TestEveryResetIsTrue walks over both changes of the clock: the counter becomes
// another exactly when the headers have said it would.
func TestEveryResetIsTrue(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "UTC"} {
		for _, window := range []string{"600", "3600", "5400", "7200", "86400", "90000.5"} {
			for _, from := range []string{"2026-03-28 12:00:00", "2026-04-04 00:00:00", "2026-10-24 12:00:00", "2026-10-31 12:00:00"} {
				at := mustTime(t, "UTC", from)
				l := newLimiter(t, `{"time_zone": "`+zone+`", "rate_limit": {"limit": 1e6, "window": `+window+`}}`, newClock(at))
				var reset time.Time // of the counter in use
				for range 300 {
					h := make(http.Header)
					d, err := l.Begin(t.Context(), h, at)
					if err != nil {
						t.Fatal(err)
					}
					fresh := h.Get("X-RateLimit-Remaining") == h.Get("X-RateLimit-Limit")
					if begun := !at.Before(reset); fresh != begun {
						t.Fatalf("%s, window %s, %s: the counter is fresh: %v, expected at %s", zone, window, at, fresh, reset)
					}
					reset = at.Add(time.Duration(number(t, h, "X-RateLimit-Reset")) * time.Second)
					d.End(t.Context(), h, http.StatusOK, time.Second)
					at = at.Add(10 * time.Minute)
				}
			}
		}
	}
}
