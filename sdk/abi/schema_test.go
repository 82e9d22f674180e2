package abi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"armature/plugins/manifest"
	"armature/plugins/schema"
)

// manifestSchema is manifest.schema.json, as text and as what the test compares.
type manifestSchema struct {
	Properties map[string]struct {
		Items         manifestItems
		PropertyNames struct{ Pattern string }
		Properties    map[string]struct{ Maximum int }
	}
}

type manifestItems struct {
	Pattern    string
	Properties map[string]json.RawMessage
}

func loadSchema(t *testing.T) (text []byte, s manifestSchema) {
	t.Helper()
	text, err := os.ReadFile("manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return text, s
}

// The published schema has the fields, grants, events and limits of the server.
func TestSchemaIsTheServers(t *testing.T) {
	_, s := loadSchema(t)
	fields := func(v any) (names []string) {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if got := keys(s.Properties); !slices.Equal(got, fields(manifest.Manifest{})) {
		t.Errorf("fields %v, the server's %v", got, fields(manifest.Manifest{}))
	}
	if got := keys(s.Properties["methods"].Items.Properties); !slices.Equal(got, fields(manifest.Method{})) {
		t.Errorf("fields of a method %v, the server's %v", got, fields(manifest.Method{}))
	}
	limits := s.Properties["limits"].Properties
	if got := keys(limits); !slices.Equal(got, fields(manifest.Limits{})) {
		t.Errorf("limits %v, the server's %v", got, fields(manifest.Limits{}))
	}
	parses := func(member string) error {
		_, err := manifest.Parse(fmt.Appendf(nil, `{"name": "a.b", "version": "1", "abi": 1, %s}`, member))
		return err
	}
	for name, limit := range limits {
		if parses(fmt.Sprintf(`"limits": {%q: %d}`, name, limit.Maximum)) != nil || parses(fmt.Sprintf(`"limits": {%q: %d}`, name, limit.Maximum+1)) == nil {
			t.Errorf("limits.%s: %d is not the most the server takes", name, limit.Maximum)
		}
	}
	grants := append(manifest.Grantable(), manifest.Elevated, manifest.Platform, manifest.KV)
	for _, field := range []string{"grants", "optional_grants"} {
		words, _, _ := strings.Cut(strings.TrimPrefix(s.Properties[field].Items.Pattern, "^("), "|resource:")
		if got := strings.Split(words, "|"); !slices.Equal(got, grants) {
			t.Errorf("%s: %v, the server's %v", field, got, grants)
		}
	}
	_, pattern, _ := strings.Cut(s.Properties["events"].PropertyNames.Pattern, "(")
	events := strings.Split(strings.TrimSuffix(pattern, ")$"), "|")
	err := parses(`"events": {"ToDo.none": "x"}`)
	for _, event := range events {
		if parses(fmt.Sprintf(`"events": {"ToDo.%s": "x"}`, event)) != nil {
			t.Errorf("the server knows no event %s", event)
		}
	}
	_, known, _ := strings.Cut(fmt.Sprint(err), "expected one of ")
	if got := len(strings.Split(known, ", ")); got != len(events) {
		t.Errorf("%d events, the server knows %d: %s", len(events), got, known)
	}
}

func keys[T any](m map[string]T) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The schema admits the manifests there are and refuses what the server refuses.
func TestSchemaOfManifests(t *testing.T) {
	text, _ := loadSchema(t)
	s, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) error {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return s.Check(v)
	}
	files, err := filepath.Glob("../../examples/*/armature.json")
	if err != nil {
		t.Fatal(err)
	}
	admitted := 0
	for _, file := range append(files, "../conformance/armature.json") {
		if filepath.Base(filepath.Dir(file)) == "deploy" {
			continue // the settings of a server
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		admitted++
	}
	if admitted < 5 {
		t.Errorf("only %d manifests", admitted)
	}
	for _, wrong := range []string{
		`{"version": "1", "abi": 1}`, `{"name": "todo", "version": "1", "abi": 1}`, `{"name": "a.b", "version": "1", "abi": 2}`,
		`{"name": "a.b", "version": "1", "abi": 1, "versoin": "2"}`,
		`{"name": "a.b", "version": "1", "abi": 1, "methods": [{"path": "a.b.c", "guest": true}]}`,
		`{"name": "a.b", "version": "1", "abi": 1, "methods": [{"path": "a.b.c", "verbs": ["PATCH"]}]}`,
		`{"name": "a.b", "version": "1", "abi": 1, "grants": ["root"]}`,
		`{"name": "a.b", "version": "1", "abi": 1, "grants": ["resource:ToDo:own"]}`,
		`{"name": "a.b", "version": "1", "abi": 1, "grants": ["event:ToDo.none"]}`,
		`{"name": "a.b", "version": "1", "abi": 1, "optional_grants": ["root"]}`,
		`{"name": "a.b", "version": "1", "abi": 1, "events": {"ToDo.validate": {"sets": ["*"]}}}`,
		`{"name": "a.b", "version": "1", "abi": 1, "events": {"ToDo.validate": {"export": "x", "sets": ["A b"]}}}`,
		`{"name": "a.b", "version": "1", "abi": 1, "limits": {"http": 33}}`,
	} {
		if check([]byte(wrong)) == nil {
			t.Errorf("the schema admits %s", wrong)
		}
		if _, err := manifest.Parse([]byte(wrong)); err == nil {
			t.Errorf("the server admits %s", wrong)
		}
	}
}
