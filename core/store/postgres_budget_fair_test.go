package store

import (
	"testing"
	"time"
)

// TestBudgetShares: a site that has few connections gets the next that is free before
// one that has many, and keeps those it has while only such a one waits.
func TestBudgetShares(t *testing.T) {
	b := NewBudget(4)
	take := func(of string) chan error {
		t.Helper()
		got := make(chan error, 1)
		b.mu.Lock()
		full, waiting := b.open == b.most, len(b.waiting)
		b.mu.Unlock()
		go func() { got <- b.take(t.Context(), of, time.Minute) }()
		if !full {
			if err := <-got; err != nil {
				t.Fatal(err)
			}
			return got
		}
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) { // it waits for nobody who could tell
			b.mu.Lock()
			now := len(b.waiting)
			b.mu.Unlock()
			if now > waiting {
				return got
			}
			if time.Now().After(deadline) {
				t.Fatal("nobody waits")
			}
		}
	}
	for range 4 {
		take("loud")
	}
	if b.yields("loud") {
		t.Error("a connection is let go for nobody")
	}
	more, quiet := take("loud"), take("quiet")
	if !b.yields("loud") {
		t.Error("the site with all connections lets none go")
	}
	b.give("loud")
	if err := <-quiet; err != nil {
		t.Fatal(err)
	}
	if b.yields("quiet") {
		t.Error("the site with one connection lets it go for the one with three")
	}
	third := take("third")
	if !b.yields("quiet") {
		t.Error("of two sites the one that has a connection keeps it from the one that has none")
	}
	b.give("quiet")
	if err := <-third; err != nil {
		t.Fatal(err)
	}
	b.give("third")
	if err := <-more; err != nil {
		t.Fatal(err)
	}
	for range 4 {
		b.give("loud")
	}
	if b.open != 0 || len(b.holders) != 0 {
		t.Errorf("%d connections of %d sites are left", b.open, len(b.holders))
	}
}
