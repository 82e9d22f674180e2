// Package storetest is the suite that every database passes: the same
// documents, filters and mistakes, and the same answers.
package storetest

import (
	"testing"

	"armature/core/document"
)

// Run runs the suite. open makes an empty store, closed by the test's cleanup.
func Run(t *testing.T, open func(testing.TB) document.Store) {
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
		t.Run(g.name, func(t *testing.T) { g.run(t, open) })
	}
}
