package quickjs

import (
	"strings"
	"testing"
	"time"
)

// TestURLTime: no URL keeps the host busy for long, since nothing is counted
// meanwhile. Without the bounds the worst of these take a quarter of a minute.
func TestURLTime(t *testing.T) {
	const slow = 10 * time.Second
	for _, around := range [][2]string{{"http://", ""}, {"http://", "/"}, {"http://", "@h/"}, {"http://a/", ""}, {"a:", ""}, {"http://a/?", ""}} {
		for _, unit := range []string{"@", "a/", "../", "a:", "a", "ä", "%41", "1.", ":", " ", "\\"} {
			for _, length := range []int{maxBefore - 20, maxURL - 20} {
				text := strings.Repeat(unit, length/len(unit))
				for _, op := range []string{"parse", "username", "pathname", "host", "search"} {
					href, value := around[0]+text+around[1], ""
					if op != "parse" {
						href, value = "http://a/", text
					}
					began := time.Now()
					takeApart(op, href, value)
					if took := time.Since(began); took > slow {
						t.Errorf("%s: %q times %d took %v", op, around[0]+unit+around[1], length/len(unit), took)
					}
					if op == "parse" && value == "" {
						began = time.Now()
						takeApart(op, "x", href)
						if took := time.Since(began); took > slow {
							t.Errorf("%s: a base of %q times %d took %v", op, around[0]+unit+around[1], length/len(unit), took)
						}
					}
				}
			}
		}
	}
	if _, ok := takeApart("parse", "http://a/b?"+strings.Repeat("q", maxURL-100), ""); !ok {
		t.Error("a long query is refused")
	}
}
