package abi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"armature/plugins/manifest"
)

// What authors copy must be what the server reads: the example of manifest.md and
// the manifests of the example plugins.
func TestManifestsParse(t *testing.T) {
	text, err := os.ReadFile("manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(text), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	if !found {
		t.Fatal("manifest.md has no example")
	}
	if _, err := manifest.Parse([]byte(example)); err != nil {
		t.Errorf("manifest.md: %v", err)
	}
	files, err := filepath.Glob("../../examples/*/armature.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example manifests: %v", err)
	}
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) == "deploy" {
			continue // the settings of a server
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := manifest.Parse(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// manifest.md lists the fields the server knows, all of them and no others.
func TestManifestFields(t *testing.T) {
	text, err := os.ReadFile("manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	skip := false
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "| event |") { // names of events, not fields
			skip = true
		}
		if !strings.HasPrefix(line, "|") {
			skip = false
		}
		if cells := strings.Split(line, "`"); !skip && strings.HasPrefix(line, "| `") {
			documented[cells[1]] = true
		}
	}
	known := map[string]bool{}
	for _, v := range []any{manifest.Manifest{}, manifest.Method{}, manifest.Limits{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			known[name] = true
			if !documented[name] {
				t.Errorf("manifest.md does not describe %s", name)
			}
		}
	}
	for name := range documented {
		if !known[name] {
			t.Errorf("manifest.md describes %s, which the server refuses", name)
		}
	}
}

// Every event a plugin may name is in the prose.
func TestManifestEvents(t *testing.T) {
	text, err := os.ReadFile("manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Events")
	section, _, _ = strings.Cut(section, "\n## ")
	for i, name := range strings.Split(section, "`") {
		if i%2 == 0 || strings.ContainsAny(name, "{* ") || name == "methods" || name == "before" {
			continue
		}
		doc, _ := json.Marshal(map[string]any{"name": "a.b", "version": "1", "abi": 1,
			"events": map[string]string{"ToDo." + name: "x"}})
		if _, err := manifest.Parse(doc); err != nil {
			t.Errorf("event %s: %v", name, err)
		}
	}
}
