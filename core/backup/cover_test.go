package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/core/backup"
)

// What is no archive is said before anybody is asked for a passphrase, and so is
// one of format 1 that is cut at its head.
func TestInspectRefuses(t *testing.T) {
	const whole = "age-encryption.org/v1\n-> scrypt c2FsdHNhbHRzYWx0c2FsdA 18\nYm9keQ\n--- bWFj\nrest"
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, says string }{
		"format 1":     {whole, ""},
		"empty":        {"", "is empty"},
		"cut at first": {whole[:10], "is cut"},
		"cut later":    {whole[:40], "is cut"},
		"a picture":    {"\x89PNG\r\n", "no archive"},
		"a key":        {strings.Replace(whole, "scrypt", "X25519", 1), "not under a passphrase"},
		"a head":       {"armature.json", "is cut"},
		"another tar":  {"armature.json" + strings.Repeat("\x00", 10_000), "no archive"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := backup.Inspect(t.Context(), file, nil)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := backup.Inspect(t.Context(), dir, nil); err == nil {
		t.Error("a folder is taken for an archive")
	}
	if _, err := backup.Inspect(t.Context(), filepath.Join(dir, "nothing"), nil); err == nil {
		t.Error("nothing is taken for an archive")
	}
}
