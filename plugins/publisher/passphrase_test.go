//go:build !race

package publisher_test

import (
	"errors"
	"strings"
	"testing"

	"armature/plugins/publisher"
)

// TestPassphrase opens a sealed key with its passphrase alone. Each try takes a
// second and 1 GiB; with the race detector it would be half a minute and 6 GiB.
func TestPassphrase(t *testing.T) {
	secret, public, err := publisher.Generate("a pass phrase")
	if err != nil || !publisher.Encrypted(secret) {
		t.Fatal(err)
	}
	if _, err := publisher.Open(secret, "another"); !errors.Is(err, publisher.ErrPassphrase) {
		t.Errorf("another passphrase: %v", err)
	}
	opened, err := publisher.Open(secret, "a pass phrase")
	if err != nil || !strings.Contains(string(public), opened.Public()) {
		t.Errorf("%v", err)
	}
}
