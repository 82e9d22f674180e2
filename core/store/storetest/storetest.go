// Package storetest is the suite that every database passes: the same
// documents, filters and mistakes, and the same answers.
package storetest

import (
	"slices"
	"testing"

	"armature/core/document"
)

// Run runs the suite, or the groups that are named. open makes an empty store, closed by
// the test's cleanup.
func Run(t *testing.T, open func(testing.TB) document.Store, only ...string) {
	groups := []struct {
		name string
		run  func(*testing.T, func(testing.TB) document.Store)
	}{
		{"Document", testDocument},
		{"List", testList},
		{"Transaction", testTransaction},
		{"Concurrency", testConcurrency},
		{"Isolation", testIsolation},
		{"Migrate", testMigrate},
		{"Replace", testReplace},
		{"Need", testNeed},
	}
	for _, g := range groups {
		if len(only) > 0 && !slices.Contains(only, g.name) {
			continue
		}
		t.Run(g.name, func(t *testing.T) { g.run(t, open) })
	}
}
