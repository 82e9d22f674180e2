package sites_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"armature/core/site"
)

// reads is how the rooms of core ask for a key of the configuration, or name one to
// ask for it later.
var reads = regexp.MustCompile(`(?:\b(?:[sS]etting|flag|number|list|text|Config\(\)\.Get|config(?:\(\))?\.Get)\("|\w*Setting\s*=\s*"|\bkey[A-Z]\w*\s*=\s*")([a-z_]+)"`)

// readers are the rooms that do.
var readers = regexp.MustCompile(`^\.\./(auth|web|tenant|sites|ratelimit|connectedapp|egress|social|mcp|webhook|file/backend)/`)

// TestSettingsAreKnown: a key that is read anywhere can be set.
func TestSettingsAreKnown(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if !readers.MatchString(filepath.ToSlash(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range reads.FindAllStringSubmatch(string(text), -1) {
			seen[m[1]] = true
			if site.FindSetting(m[1]) == nil {
				t.Errorf("%s reads %q, which is not in core/site/settings.go", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"session_expiry", "app_name", "mail", "file_storage", "rate_limit", "allowed_private_hosts", "throttle_user_limit"} {
		if !seen[key] {
			t.Errorf("the test no longer sees where %s is read", key)
		}
	}
}
