package site_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"armature/core/site"
)

var update = flag.Bool("update", false, "write settings.md anew")

// TestSettingsPage: settings.md is what the list says.
func TestSettingsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Settings of a site\n\n" +
		"Made of `settings.go` by `go test ./core/site -run SettingsPage -update`. `armature site settings` prints the same,\n" +
		"`armature site config NAME set KEY JSON` sets one, the value `null` takes it away. Running servers take a change over within a second.\n\n" +
		"| key | value | default | meaning | since format |\n|---|---|---|---|---|\n")
	for _, s := range site.Settings() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %d |\n", s.Key, s.Kind, s.Default, s.Meaning, s.Since)
	}
	if *update {
		if err := os.WriteFile("settings.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("settings.md")
	if err != nil || string(text) != b.String() {
		t.Errorf("settings.md is not what the list says (%v); run the test with -update", err)
	}
}
