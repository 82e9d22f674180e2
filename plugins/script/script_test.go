package script_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"armature/plugins/script"
)

// folder is a temporary folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
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

func TestRead(t *testing.T) {
	dir := folder(t, map[string]string{"acme.shop.ts": `
interface A { x: number }
export const manifest = { description: 'it\'s "ö" ' + "", limits: {cpu_ms: 1000}, events: {"ToDo.validate": "check"},
  methods: { hello: { verbs: ["GET"], "allow_guest": true } } } as const;
export const VERSION = "1";
export const table = [1], options = {a: 1}, when = new Date(), bare = -1, text = ` + "`t`" + `;
export function hello(a: A): number { return a.x }
export const later = async (a: A) => { class P { #x = 1; static { P.y = 2 } static y?: number; get v() { return this.#x ?? 0 } } return new P().v ** 2 };
export const wrapped = later.bind(null);
export enum Color { Red }
export class K {}
export type T = A;
async function* gen() { for await (const x of [1]) yield x?.toString() }
export { gen as list };
export default {};
const r = /(?<y>\d{4})/v; label: for (;;) { break label }
await 1;
`})
	s, err := script.Read(filepath.Join(dir, "acme.shop.ts"), "")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"hello", "later", "list", "wrapped"}; !slices.Equal(s.Functions, want) {
		t.Errorf("functions %v, want %v", s.Functions, want)
	}
	var m map[string]any
	if err := json.Unmarshal(s.Manifest, &m); err != nil || m["description"] != `it's "ö" ` {
		t.Errorf("manifest %s: %v", s.Manifest, err)
	}
	if !strings.Contains(string(s.Manifest), `{"cpu_ms":1000}`) {
		t.Errorf("esbuild's 1e3 is left in %s", s.Manifest)
	}
	if !strings.Contains(string(s.Map), "acme.shop.ts") || strings.Contains(string(s.Code), "interface") {
		t.Errorf("code %s\nmap %s", s.Code, s.Map)
	}
}

func TestFolder(t *testing.T) {
	dir := folder(t, map[string]string{
		"main.ts":                         `import { tax } from "./lib/tax"; import rates from "./rates.json"; import pad from "pad"; export const f = () => [tax(1), rates.a, pad("x")]`,
		"lib/tax.ts":                      `export const tax = (x: number): number => x * 2`,
		"rates.json":                      `{"a": 7}`,
		"node_modules/pad/package.json":   `{"name": "pad", "main": "index.js"}`,
		"node_modules/pad/index.js":       `module.exports = (s) => s + " "`,
		"tsconfig.json":                   `{"extends": "../not/there.json"}`,
		"node_modules/pad/unused/deep.js": ``,
	})
	main, err := script.Main(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Read(main, dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Functions, []string{"f"}) || !strings.Contains(string(s.Code), "x * 2") {
		t.Errorf("%v\n%s", s.Functions, s.Code)
	}
	files, folders, err := script.Files(dir)
	if err != nil || len(files) != 4 || len(folders) != 2 {
		t.Errorf("files %v, folders %v, %v", files, folders, err)
	}
}

func TestRefused(t *testing.T) {
	outside := folder(t, map[string]string{"secret.json": `{"a": 1}`})
	tests := []struct {
		name, text, want string
		folder           bool
	}{
		{"syntax", "export function f() {\n  return 1 +;\n}", "main.ts:2:13: Unexpected \";\"", false},
		{"types that do not close", "export function f(a: { }", "main.ts:1:", false},
		{"two problems", "let a; let a;\nlet b; let b", "main.ts:2:", false},
		{"a package", `import x from "lodash"; x()`, `"lodash" cannot be imported: a plugin with packages from npm is a folder`, false},
		{"another file", `import x from "./x"; x()`, `a plugin of several files is a folder`, false},
		{"a package that is not there", `import x from "lodash"; x()`, "run `npm install`", true},
		{"a file that is not there", `import x from "./x"; x()`, `Could not resolve "./x"`, true},
		{"Node.js", `import fs from "node:fs"; fs()`, "Node.js's own", true},
		{"Node.js, without its prefix", `import fs from "fs"; fs()`, "a plugin has no files", false},
		{"Node.js in a folder", `import {join} from "path"; join()`, "a plugin has no files", true},
		{"an address", `import x from "https://example.com/x.js"; x()`, "cannot be imported", true},
		{"outside", `import x from "` + outside + `/secret.json"; x()`, "outside of the plugin's folder", true},
		{"outside by a link", `import x from "./link/secret.json"; x()`, "outside of the plugin's folder", true},
		{"a pipe", `import x from "./pipe.json"; x()`, "pipe.json: not a regular file", true},
		{"a large file", `import x from "./large.txt"; x()`, "large.txt: over 8 MiB", true},
		{"another kind of file", `import x from "./data.bin"; x()`, "No loader", true},
		{"default", `export default function () {}`, "a default export has no name", false},
		{"manifest of calls", `export const manifest = {name: f()}; function f() {}`, "literals only", false},
		{"manifest elsewhere", `const a = {}; export const manifest = {...a}`, "literals only", false},
		{"manifest of negation", `export const manifest = {a: !f}; var f`, "cannot be analysed", false},
		{"manifest is a list", `export const manifest = [1]`, "an object that is written out", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"main.ts": tt.text, "data.bin": "\x00"})
			if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "large.txt"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(dir, "large.txt"), script.MaxSize+1); err != nil { // takes no room
				t.Fatal(err)
			}
			root := ""
			if tt.folder {
				root = dir
			}
			_, err := script.Read(filepath.Join(dir, "main.ts"), root)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestIs(t *testing.T) {
	for name, want := range map[string]bool{
		"shop.js": true, "acme.shop.ts": true, "a.mjs": true, "a.mts": true, ".hidden.js": false, "armature.d.ts": false,
		"shop.test.js": false, "shop.jsx": false, "js": false, ".js": false, "a.json": false,
	} {
		if script.Is(name) != want {
			t.Errorf("Is(%q) = %v", name, !want)
		}
	}
}

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"shop.test.js": true, "acme.shop.test.ts": true, "a.test.mjs": true, "shop.js": false, "test.js": false, "test.mjs": false,
		".test.js": false, ".shop.test.js": false, "shop.test.json": false, "shop.test.wasm": false, "shop_test.js": false,
	} {
		if script.IsTest(name) != want {
			t.Errorf("IsTest(%q) = %v", name, !want)
		}
		if want && script.Is(name) {
			t.Errorf("%s is a plugin", name)
		}
	}
}

// TestReadTest: the test and what it is about are joined, and places are found in
// both.
func TestReadTest(t *testing.T) {
	dir := folder(t, map[string]string{
		"main.ts": "export const list = 1;\nexport function run() {}", "lib/a.ts": "export const a: number = 1;",
		"lib/a.test.ts": "import { test } from 'armature:test';\nimport { a } from './a';\ntest('x', () => a);",
	})
	s, err := script.ReadTest(filepath.Join(dir, "lib", "a.test.ts"), filepath.Join(dir, "main.ts"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"list", "run"}; !slices.Equal(s.Functions, want) {
		t.Errorf("functions %v, want %v", s.Functions, want)
	}
	line := 0
	for i, text := range strings.Split(string(s.Code), "\n") {
		if strings.HasPrefix(text, `test("x"`) {
			line = i + 1
		}
	}
	if p, ok := s.Source(line, 1); !ok || p.File != "lib/a.test.ts" || p.Line != 3 || p.Column != 1 {
		t.Errorf("line %d is from %+v, %v", line, p, ok)
	}
	if _, err := script.ReadTest(filepath.Join(dir, "lib", "a.test.ts"), "", filepath.Join(dir, "lib")); err != nil {
		t.Errorf("without a plugin: %v", err)
	}
	if _, err := script.ReadTest(filepath.Join(dir, "lib", "a.test.ts"), filepath.Join(dir, "main.ts"), filepath.Join(dir, "lib")); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("a plugin from elsewhere: %v", err)
	}
	if _, err := script.Read(filepath.Join(dir, "lib", "a.test.ts"), filepath.Join(dir, "lib")); err == nil || !strings.Contains(err.Error(), "is for tests") {
		t.Errorf("a test as a plugin: %v", err)
	}
}

// FuzzRead: whatever is in a file, reading it ends, and what it finds is in order.
func FuzzRead(f *testing.F) {
	f.Add(`export const manifest = {name: "a.b", methods: {f: {verbs: ["GET"]}}}; export function f() {}`)
	f.Add("export const manifest = {a: -1, b: !0, c: `x`, 'd\\x41': [,], ...e}")
	f.Add(`export {f as "a b"}; function f() {}`)
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "a.ts")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := script.Read(path, "")
		if err != nil {
			return
		}
		if s.Manifest != nil && !json.Valid(s.Manifest) {
			t.Errorf("manifest %q", s.Manifest)
		}
		if !slices.IsSorted(s.Functions) {
			t.Errorf("functions %q", s.Functions)
		}
	})
}
