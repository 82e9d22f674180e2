package abi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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
	grants := append(manifest.Grantable(), manifest.Elevated, manifest.Platform, manifest.SameOrigin, manifest.KV, manifest.ByClock)
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

// TestSchemaAndServerAgreeAboutHosts: whatever the server takes as a host the schema
// admits, and nothing else.
func TestSchemaAndServerAgreeAboutHosts(t *testing.T) {
	_, s := loadSchema(t)
	pattern := regexp.MustCompile(s.Properties["allowed_hosts"].Items.Pattern)
	random := rand.New(rand.NewPCG(16, 5))
	parts := []string{
		"api", "example", "com", "a", "9", "127", "1", "0", "0x7f", "0x", "0xg", "01", "256", "255", "1a", "0b", "0-1", "0x-a", "x-", "-x", "0x1-",
		"*", "*.", ".", ".", ".", ".", ":", ":", "::", "[", "]", "[::", "::1]", "2001:db8", "ffff", "12345", "80", "8443", "65535", "65536", "00080", "G", "é", " ", "",
	}
	shapes := []func() string{
		func() (host string) {
			for range 1 + random.IntN(7) {
				host += parts[random.IntN(len(parts))]
			}
			return host
		},
		func() string {
			return fmt.Sprintf("%d.%d.%d.%d", random.IntN(300), random.IntN(300), random.IntN(260), random.IntN(260))
		},
		func() string { // an address in brackets, with something wrong in it now and then
			var b [16]byte
			for i := range b {
				b[i] = byte(random.IntN(256)) * byte(random.IntN(2))
			}
			text := []byte(netip.AddrFrom16(b).String())
			if random.IntN(2) == 0 {
				text[random.IntN(len(text))] = "0:.f1g"[random.IntN(6)]
			}
			return "[" + string(text) + "]" + []string{"", ":443", ":0", ":70000"}[random.IntN(4)]
		},
	}
	const tries = 20000
	taken := 0
	for range tries {
		host := shapes[random.IntN(len(shapes))]()
		text, _ := json.Marshal(map[string]any{"name": "a.b", "version": "1", "abi": 1, "grants": []string{"http_fetch"}, "allowed_hosts": []string{host}})
		_, err := manifest.Parse(text)
		if admits := pattern.MatchString(host); admits != (err == nil) {
			t.Fatalf("%q: the schema admits it: %v; the server says %v", host, admits, err)
		}
		if err == nil {
			taken++
		}
	}
	if taken < tries/10 || taken > tries*9/10 {
		t.Errorf("%d of %d strings are hosts: they try little", taken, tries)
	}
	for _, host := range []string{"127.1", "0x7f000001", "2130706433", "a.0x7f", "*.1", "[::1", "[::1%eth0]"} {
		if pattern.MatchString(host) {
			t.Errorf("the schema admits %s", host)
		}
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
