package scaffold_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/plugins/toolchain"
	"armature/plugins/toolchain/scaffold"
)

// TestWrite: each language's folder has a manifest of the plugin's name, is taken for
// a plugin of a language or a script, and says in its README how to go on.
func TestWrite(t *testing.T) {
	for _, lang := range scaffold.Languages() {
		t.Run(lang, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "plugin")
			if err := scaffold.Write(lang, "acme.fresh", dir); err != nil {
				t.Fatal(err)
			}
			if bundle.IsScript(dir) {
				if b, err := bundle.Read(dir); err != nil || b.Manifest.Name != "acme.fresh" {
					t.Errorf("the script is %+v, %v", b, err)
				}
			} else {
				if _, err := toolchain.Detect(dir); err != nil {
					t.Error(err)
				}
				text, err := bundle.ManifestText(dir)
				if err != nil {
					t.Fatal(err)
				}
				if m, err := manifest.Parse(text); err != nil || m.Name != "acme.fresh" {
					t.Errorf("the manifest is %+v, %v", m, err)
				}
			}
			if readme, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || !strings.Contains(string(readme), "armature plugin dev") {
				t.Errorf("the README says %s, %v", readme, err)
			}
			if err := scaffold.Write(lang, "acme.fresh", dir); !os.IsExist(err) {
				t.Errorf("a folder that is there: %v", err)
			}
		})
	}
}

// TestWriteRefused: nothing is made for a name or a language that there cannot be.
func TestWriteRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugin")
	for _, tt := range []struct{ lang, name, want string }{{"cobol", "acme.fresh", "wat, js, ts"}, {"go", "Not A Name", "name"}} {
		if err := scaffold.Write(tt.lang, tt.name, dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s in %s: %v", tt.name, tt.lang, err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", dir, err)
		}
	}
}
