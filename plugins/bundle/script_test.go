package bundle_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/plugins/bundle"
	"armature/plugins/manifest"
)

// files writes files into a folder.
func files(t *testing.T, dir string, all map[string]string) string {
	t.Helper()
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func readScript(t *testing.T, name, text string) (*bundle.Bundle, error) {
	t.Helper()
	return bundle.Read(filepath.Join(files(t, t.TempDir(), map[string]string{name: text}), name))
}

// TestScript: a file says everything by its name and its exports.
func TestScript(t *testing.T) {
	b, err := readScript(t, "shop.js", `export function one() {}; export const two = async () => {}, three = 3`)
	if err != nil {
		t.Fatal(err)
	}
	m := b.Manifest
	if m.Name != "shop" || !strings.HasPrefix(m.Version, "sha-") || m.ABI != 1 || len(m.Methods) != 2 {
		t.Errorf("manifest %+v", m)
	}
	if x := m.Methods[0]; x.Path != "shop.one" || x.Export != "one" || !slices.Equal(x.Verbs, []string{"GET", "POST"}) || x.AllowGuest {
		t.Errorf("method %+v", x)
	}
	for _, g := range []string{"doc_get", "doc_delete", "kv_set", "method_call"} {
		if !slices.Contains(m.Imports(), g) {
			t.Errorf("%s is not imported: %v", g, m.Grants)
		}
	}
	for _, g := range []string{"http_fetch", "connected_request", "enqueue", manifest.Elevated} {
		if slices.Contains(m.Grants, g) {
			t.Errorf("%s, which needs an approval, is asked for", g)
		}
	}
	if again, err := bundle.Parse(b.Module); err == nil {
		t.Errorf("the module carries its manifest: %+v", again)
	}
}

func TestScriptManifest(t *testing.T) {
	b, err := readScript(t, "acme.shop.ts", `
		export const manifest = {
			version: "2", description: "A shop", allowed_hosts: ["api.example.com"],
			events: {"ToDo.validate": "check", "ToDo.on_trash": "gone"},
			methods: {close: {verbs: ["POST"], allow_guest: true, writes: true}, gone: {}},
		};
		export function close() {}
		export function open() {}
		export function check() {}
		export function gone() {}`)
	if err != nil {
		t.Fatal(err)
	}
	m := b.Manifest
	var paths []string
	for _, x := range m.Methods {
		paths = append(paths, x.Path)
	}
	if want := []string{"acme.shop.close", "acme.shop.gone", "acme.shop.open"}; !slices.Equal(paths, want) {
		t.Errorf("methods %v, want %v", paths, want)
	}
	if x := m.Methods[0]; !slices.Equal(x.Verbs, []string{"POST"}) || !x.AllowGuest || !x.Writes {
		t.Errorf("method %+v", x)
	}
	if m.Version != "2" || !slices.Contains(m.Grants, "http_fetch") || len(m.Handlers()) != 2 {
		t.Errorf("manifest %+v", m)
	}
	if b, err = readScript(t, "a.b.js", `export const manifest = {grants: ["doc_get", "elevated"], methods: [{path: "a.b.x"}, {path: "a.b.y.z", export: "y"}]}; export function x() {}; export function y() {}; export function z() {}`); err != nil {
		t.Fatal(err)
	}
	if m := b.Manifest; len(m.Grants) != 2 || len(m.Methods) != 2 || m.Methods[0].Export != "x" || m.Methods[1].Export != "y" {
		t.Errorf("manifest %+v", m)
	}
}

func TestScriptFolder(t *testing.T) {
	dir := files(t, filepath.Join(t.TempDir(), "acme.shop"), map[string]string{
		"main.js": `import { x } from "./x"; export const f = () => x`, "x.ts": `export const x: number = 1`,
		"doctypes/item.json": `{"name": "Item", "fields": []}`,
	})
	b, err := bundle.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m := b.Manifest; m.Name != "acme.shop" || len(m.Methods) != 1 || len(m.DocTypes) != 1 {
		t.Errorf("manifest %+v", m)
	}
	files(t, dir, map[string]string{"armature.json": `{"name": "acme.other", "version": "1"}`})
	if b, err = bundle.Read(dir); err != nil || b.Manifest.Name != "acme.other" || b.Manifest.Version != "1" {
		t.Errorf("with armature.json: %+v, %v", b, err)
	}
	whole, err := bundle.Whole(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := bundle.Parse(whole); err != nil || again.Hash != b.Hash {
		t.Errorf("as one file it is another plugin: %v", err)
	}
	if !bundle.IsBundle(dir) || !bundle.IsScript(dir) {
		t.Error("the folder is none")
	}
	if got := bundle.Folders(dir); len(got) != 2 {
		t.Errorf("folders %v", got)
	}
}

func TestScriptRefused(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"name of the file", map[string]string{"My-Shop.js": "export function f() {}"}, `found "My-Shop"`},
		{"reserved", map[string]string{"framework.js": "export function f() {}"}, "framework is reserved"},
		{"name of a function", map[string]string{"a.js": "export function $f() {}"}, "the function $f cannot be a method"},
		{"unknown member", map[string]string{"a.js": "export const manifest = {versoin: 1}"}, "a.js:1:35: unknown field versoin"},
		{"unknown member of a method", map[string]string{"a.js": "export const manifest = {methods: {f: {guest: true}}}; export function f() {}"}, "a.js:1:47: unknown field methods.f.guest"},
		{"wrong verb", map[string]string{"a.js": "export const manifest = {methods: {f: {verbs: ['PATCH']}}}; export function f() {}"}, "a.js:1:48: methods.f.verbs[0]: expected GET"},
		{"no such function", map[string]string{"a.js": "export const manifest = {methods: {g: {}}}; export function f() {}"}, "methods.g: the script exports no function of this name; it exports f"},
		{"path of a method", map[string]string{"a.js": "export const manifest = {methods: {f: {path: 'a.b'}}}; export function f() {}"}, "the name of the function says it"},
		{"methods is text", map[string]string{"a.js": "export const manifest = {methods: 'f'}"}, "methods: expected an object"},
		{"name is a number", map[string]string{"a.js": "export const manifest = {name: 1}"}, "a.js:1:32: name: expected text"},
		{"events are a list", map[string]string{"a.js": "export const manifest = {events: []}"}, "events: expected"},
		{"two manifests", map[string]string{"d/main.js": "export const manifest = {}", "d/armature.json": "{}"}, "which one is meant"},
		{"two mains", map[string]string{"d/main.js": "", "d/main.ts": ""}, "which one is meant"},
		{"a module and a script", map[string]string{"d/main.js": "", "d/a.wasm": "", "d/armature.json": "{}"}, "found a.wasm, main.js"},
		{"armature.json", map[string]string{"d/main.js": "", "d/armature.json": "{\n \"nam\": 1}"}, "armature.json:2:2: unknown field nam"},
		{"armature.json's method", map[string]string{"d/main.js": "export function f() {}", "d/armature.json": "{\n \"name\": \"a.d\", \"methods\": [{\"path\": \"b.c\"}]}"}, "armature.json:2:38: methods[0].path: expected a.d."},
		{"places in TypeScript", map[string]string{"a.ts": `interface Ö { a: string }
export const manifest = {
  description: "Zoë's", // a remark
  'limits': { memory: 1e3, wall_ms: -5 },
  methods: {
    f: { verbs: ["GET", 'PATCH'] },
  },
} as const;
export function f(a: Ö) {}`}, "a.ts:4:37: limits.wall_ms: expected 1 to 60000, found -5"},
		{"places in a list", map[string]string{"a.ts": `type A = string
export const manifest = {
  methods: {
    /* Ö */ f: { allow_guest: true,
      verbs: ["GET", 'PATCH'] },
  },
}
export function f(a: A) {}`}, "a.ts:5:22: methods.f.verbs[1]: expected GET"},
		{"a value of another type", map[string]string{"a.js": "export const manifest = {\n  methods: {f: {\n    writes: 1}}};\nexport function f() {}"}, "a.js:3:13: methods.f.writes: expected true or false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := files(t, t.TempDir(), tt.files)
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			_, err = bundle.Read(filepath.Join(dir, entries[0].Name()))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestPartsOfScripts: a file of a folder that is a plugin is not one by itself, and
// a folder that cannot be read as a script is one nevertheless, with an error that
// says why.
func TestPartsOfScripts(t *testing.T) {
	dir := files(t, t.TempDir(), map[string]string{
		"d/main.js": "export function f() {}", "d/armature.json": `{"name": "acme.d"}`,
		"alone/main.js": "export function f() {}",
		"both/main.js":  "export function f() {}", "both/main.ts": "export function f() {}",
		"built/main.js": "export function f() {}", "built/main.js.wasm": "",
	})
	if _, err := bundle.Whole(filepath.Join(dir, "d", "main.js")); err == nil || !strings.Contains(err.Error(), "name the folder") {
		t.Errorf("the first file: %v", err)
	}
	if b, err := bundle.Read(filepath.Join(dir, "d")); err != nil || b.Manifest.Name != "acme.d" {
		t.Errorf("the folder: %v", err)
	}
	if b, err := bundle.Read(filepath.Join(dir, "alone", "main.js")); err != nil || b.Manifest.Name != "main" {
		t.Errorf("a script called main: %v", err)
	}
	for folder, want := range map[string]string{"both": "which one is meant", "built": "found main.js.wasm, main.js"} {
		path := filepath.Join(dir, folder)
		if _, err := bundle.Whole(path); !bundle.IsScript(path) || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// FuzzScriptManifest: what a script says of itself is refused, or is a manifest
// that every other reader accepts.
func FuzzScriptManifest(f *testing.F) {
	f.Add(`{name: "a.b", version: "1", methods: {f: {verbs: ["GET"], args: {type: "object"}}}, events: {"ToDo.validate": "g"}}`)
	f.Add(`{methods: [{path: "a.f"}], grants: ["doc_get"], allowed_hosts: ["a.example"], doctypes: [{}]}`)
	f.Add(`{limits: {cpu_ms: 1e3, wall_ms: -0}, abi: 1.5}`)
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "a.js")
		source := "export const manifest = " + text + ";\nexport function f() {}\nexport function g() {}\n"
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		whole, err := bundle.Whole(path)
		if err != nil {
			return
		}
		b, err := bundle.Parse(whole)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		for _, x := range b.Manifest.Methods {
			if !strings.HasPrefix(x.Path, b.Manifest.Name+".") || x.Export == "" {
				t.Errorf("method %+v", x)
			}
		}
	})
}
