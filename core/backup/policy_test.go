package backup_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"armature/core/backup"
)

// What stays is what the words say: an archive is kept by a rule when it is the
// newest of its period and fewer periods with archives than the rule keeps are
// newer.
func TestPolicy(t *testing.T) {
	periods := map[string]func(time.Time) string{
		"hourly":  func(t time.Time) string { return fmt.Sprint(t.Unix() / 3600) },
		"daily":   func(t time.Time) string { return fmt.Sprint(t.Unix() / 86400) },
		"weekly":  func(t time.Time) string { return fmt.Sprint((t.Unix()/86400 + 3) / 7) }, // 1970 began on a Thursday
		"monthly": func(t time.Time) string { return fmt.Sprint(t.Year(), t.Month()) },
		"yearly":  func(t time.Time) string { return fmt.Sprint(t.Year()) },
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		p := backup.Policy{
			Last: r.IntN(4), Hourly: r.IntN(4), Daily: r.IntN(8), Weekly: r.IntN(5), Monthly: r.IntN(5), Yearly: r.IntN(3),
		}
		counts := map[string]int{"hourly": p.Hourly, "daily": p.Daily, "weekly": p.Weekly, "monthly": p.Monthly, "yearly": p.Yearly}
		begin := time.Date(2024, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
		span := []time.Duration{48 * time.Hour, 60 * 24 * time.Hour, 900 * 24 * time.Hour}[round%3]
		seen, made := map[int64]bool{}, []time.Time{}
		for range r.IntN(60) {
			at := begin.Add(time.Duration(r.Int64N(int64(span)))).Truncate(time.Second)
			if !seen[at.Unix()] {
				seen[at.Unix()] = true
				made = append(made, at)
			}
		}
		stay := p.Stay(made)
		for i, at := range made {
			newer, want := 0, false
			newerOf := map[string]map[string]bool{}
			for _, other := range made {
				if !other.After(at) {
					continue
				}
				newer++
				for name, period := range periods {
					if newerOf[name] == nil {
						newerOf[name] = map[string]bool{}
					}
					newerOf[name][period(other)] = true
				}
			}
			want = newer == 0 || newer < p.Last
			for name, period := range periods {
				if !newerOf[name][period(at)] && len(newerOf[name]) < counts[name] {
					want = true
				}
			}
			if stay[i] != want {
				t.Fatalf("round %d, %s: %s stays is %v, of %v", round, p, at, stay[i], made)
			}
		}
	}
}

func TestParsePolicy(t *testing.T) {
	p, err := backup.ParsePolicy("last=2, daily=7,yearly=1")
	if err != nil || p != (backup.Policy{Last: 2, Daily: 7, Yearly: 1}) || p.String() != "last=2,daily=7,yearly=1" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{"", "daily", "daily=x", "dayly=1", "daily=0", "daily=-1,last=2", "last=1,,"} {
		if p, err := backup.ParsePolicy(text); err == nil {
			t.Errorf("%q is %+v", text, p)
		}
	}
}
