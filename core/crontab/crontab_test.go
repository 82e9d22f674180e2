package crontab_test

import (
	"strings"
	"testing"
	"time"

	"armature/core/crontab"
)

// TestClocksChange: what runs once a day does so on the days on which clocks are
// changed; what runs every hour goes on by the hours that have passed.
func TestClocksChange(t *testing.T) {
	tests := []struct{ name, cron, zone, from, want string }{
		{"the hour is left out", "30 2 * * *", "Europe/Zurich", "2026-03-28T12:00:00Z", "29 03:00 CEST, 30 02:30 CEST, 31 02:30 CEST"},
		{"several times are left out", "0,30 2 * * *", "Europe/Zurich", "2026-03-28T12:00:00Z", "29 03:00 CEST, 30 02:00 CEST, 30 02:30 CEST"},
		{"the hour comes twice", "30 2 * * *", "Europe/Zurich", "2026-10-24T12:00:00Z", "25 02:30 CEST, 26 02:30 CET, 27 02:30 CET"},
		{"asked between the two", "30 2 * * *", "Europe/Zurich", "2026-10-25T00:45:00Z", "26 02:30 CET, 27 02:30 CET, 28 02:30 CET"},
		{"every hour, one comes twice", "30 * * * *", "Europe/Zurich", "2026-10-24T23:45:00Z", "25 02:30 CEST, 25 02:30 CET, 25 03:30 CET"},
		{"every hour, one is left out", "30 * * * *", "Europe/Zurich", "2026-03-28T23:45:00Z", "29 01:30 CET, 29 03:30 CEST, 29 04:30 CEST"},
		{"midnight is left out", "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "04 01:00 -02, 05 00:00 -02, 06 00:00 -02"},
		{"half an hour is left out", "15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z", "04 02:30 +11, 05 02:15 +11, 06 02:15 +11"},
		{"the day of a month", "0 6 31 * *", "America/New_York", "2026-01-31T12:00:00Z", "31 06:00 EDT, 31 06:00 EDT, 31 06:00 EDT"},
		{"names", "0 6 * * mon-fri", "UTC", "2026-11-20T07:00:00Z", "23 06:00 UTC, 24 06:00 UTC, 25 06:00 UTC"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := crontab.Parse(test.cron, test.zone, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, test.from)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range 3 {
				at = c.Next(at)
				got = append(got, at.Format("02 15:04 MST"))
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("%s from %s:\n got %s\nwant %s", test.cron, test.from, got, test.want)
			}
		})
	}
}

// TestNoCron: what is no schedule, or never comes, is refused.
func TestNoCron(t *testing.T) {
	for _, test := range [][2]string{
		{"", ""}, {"* * * *", ""}, {"60 * * * *", ""}, {"@every 1s", ""}, {"TZ=UTC 0 6 * * *", ""}, {"0 0 30 2 *", ""}, {"0 6 * * *", "Mars/Base"}, {"0 6 * * *", "Local"},
		{strings.Repeat("1,", 60) + "1 * * * *", ""},
	} {
		if _, err := crontab.Parse(test[0], test[1], time.UTC); err == nil {
			t.Errorf("%q in %q was taken", test[0], test[1])
		}
	}
}
