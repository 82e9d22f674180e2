package bundle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/plugins/bundle"
	"armature/runtime/abi"
)

const text = `{"name": "acme.todo", "version": "1", "abi": 1}`

// empty is the smallest module there is.
var empty = []byte("\x00asm\x01\x00\x00\x00")

// named is a module with a custom section "x" that must survive everything.
var named = append(bytes.Clone(empty), 0, 4, 1, 'x', 'y', 'z')

func TestEmbed(t *testing.T) {
	one, err := bundle.Embed(named, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	other, err := bundle.Embed(one, []byte(strings.Replace(text, "todo", "note", 1)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	if b.Manifest.Name != "acme.note" {
		t.Errorf("name %s: the section was not replaced", b.Manifest.Name)
	}
	if !bytes.Equal(b.Module, named) {
		t.Errorf("module %x, want %x", b.Module, named)
	}
	if _, err := bundle.Embed(named, []byte(`{}`)); err == nil {
		t.Error("a manifest that is not valid was embedded")
	}
}

func TestKeeps(t *testing.T) {
	section := func(content string) []byte {
		return append(append(bytes.Clone(empty), 7, byte(len(content))), content...)
	}
	claims := `{"name": "acme.todo", "version": "1", "abi": 1, "methods": [{"path": "acme.todo.close", "export": "close"}], "events": {"ToDo.validate": "check"}}`
	for _, tt := range []struct {
		name   string
		module []byte
		want   string
	}{
		{"both", section("\x03\x06memory\x02\x00\x05close\x00\x00\x05check\x00\x81\x01"), ""},
		{"no method", section("\x01\x05check\x00\x00"), "does not export close, which the manifest names for the method acme.todo.close"},
		{"no handler", section("\x01\x05close\x00\x00"), "does not export check, which the manifest names for the event ToDo.validate"},
		{"none", empty, "does not export close"},
		{"an empty section", section(""), "cut off"},
		{"a long name", section("\x01\x7fclose"), "longer than the section"},
		{"many", section("\xff\xff\xff\xff\x0f\x05close\x00\x00"), "longer than the section"},
	} {
		whole, err := bundle.Embed(tt.module, []byte(claims))
		if err != nil {
			t.Fatal(err)
		}
		b, err := bundle.Parse(whole)
		if err != nil {
			t.Fatal(err)
		}
		if err = b.Keeps(); err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestSameHash(t *testing.T) {
	dir := t.TempDir()
	one, err := bundle.Embed(named, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "todo.wasm", one)
	write(t, dir, "todo/armature.json", []byte(text))
	write(t, dir, "todo/any.wasm", named)
	file, err := bundle.Read(filepath.Join(dir, "todo.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := bundle.Read(filepath.Join(dir, "todo"))
	if err != nil {
		t.Fatal(err)
	}
	if file.Hash != folder.Hash {
		t.Errorf("the file's hash is %s, the folder's %s", file.Hash, folder.Hash)
	}
	write(t, dir, "todo/armature.json", []byte(text+"\n"))
	changed, err := bundle.Read(filepath.Join(dir, "todo"))
	if err != nil {
		t.Fatal(err)
	}
	if changed.Hash == folder.Hash {
		t.Error("another manifest has the same hash")
	}
}

// TestPublic: the files for browsers are part of what is hashed and none of the module, in
// every shape; what cannot be served is refused.
func TestPublic(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "todo/armature.json", []byte(text))
	write(t, dir, "todo/any.wasm", named)
	bare, err := bundle.Read(filepath.Join(dir, "todo"))
	if err != nil || bare.Public != nil {
		t.Fatal(bare, err)
	}
	write(t, dir, "todo/public/index.html", []byte("<title>ToDo</title>"))
	write(t, dir, "todo/public/js/main.ts", []byte("import { word } from './word.ts'; const it: string = word; console.log(it);"))
	write(t, dir, "todo/public/js/word.ts", []byte("export const word = 'hello';"))
	write(t, dir, "todo/public/js/types.d.ts", []byte("declare const a: string;"))
	write(t, dir, "todo/public/_headers", []byte("/*\n  Content-Security-Policy:"))
	write(t, dir, "todo/public/.git/config", nil)
	folder, err := bundle.Read(filepath.Join(dir, "todo"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := bundle.Whole(filepath.Join(dir, "todo"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := bundle.Parse(whole)
	if err != nil || file.Hash != folder.Hash || folder.Hash == bare.Hash || !bytes.Equal(file.Module, named) || !bytes.Equal(folder.Module, named) {
		t.Errorf("hashes %s, %s, without files %s; %v", file.Hash, folder.Hash, bare.Hash, err)
	}
	var code bytes.Buffer
	if err := file.Public.Get("js/main.js").Unpack(&code); err != nil || !strings.Contains(code.String(), "hello") || strings.Contains(code.String(), ": string") {
		t.Errorf("the script became %s, %v", &code, err)
	}
	for _, hidden := range []string{"_headers", ".git/config", "js/types.d.ts"} {
		if file.Public.Get(hidden) != nil {
			t.Errorf("%s is served", hidden)
		}
	}
	files, err := bundle.Files(filepath.Join(dir, "todo"))
	if err != nil || len(files) != 5 || len(bundle.Folders(filepath.Join(dir, "todo"))) != 3 {
		t.Errorf("it consists of %q, in %q, %v", files, bundle.Folders(filepath.Join(dir, "todo")), err)
	}
	if !bundle.Compiles(filepath.Join(dir, "todo")) || bundle.Compiles(filepath.Join(dir, "todo", "any.wasm")) {
		t.Error("what a compiler reads is not told from what none does")
	}
	write(t, dir, "todo/public/js/main.ts", []byte("const = 1"))
	if _, err := bundle.Read(filepath.Join(dir, "todo")); err == nil || !strings.Contains(err.Error(), "public/js/main.ts:1:7") {
		t.Errorf("a mistake in a script: %v", err)
	}
	write(t, dir, "todo/public/js/main.ts", nil)
	write(t, dir, "todo/public/-/login", nil)
	if _, err := bundle.Read(filepath.Join(dir, "todo")); err == nil || !strings.Contains(err.Error(), "the platform's") {
		t.Errorf("what is the platform's: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	one, err := bundle.Embed(empty, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	twice := append(bytes.Clone(one), one[len(empty):]...)
	tests := []struct {
		name  string
		files map[string][]byte
		path  string
		want  string
	}{
		{"missing", nil, "none.wasm", "no such file"},
		{"no manifest", map[string][]byte{"p.wasm": empty}, "p.wasm", "no manifest"},
		{"empty file", map[string][]byte{"p.wasm": nil}, "p.wasm", "cut off"},
		{"text", map[string][]byte{"p.wasm": []byte("hello, world")}, "p.wasm", "p.wasm: not a WebAssembly module"},
		{"component", map[string][]byte{"p.wasm": []byte("\x00asm\x0d\x00\x01\x00")}, "p.wasm", "component"},
		{"half written", map[string][]byte{"p.wasm": one[:len(one)-3]}, "p.wasm", "cut off"},
		{"cut in a length", map[string][]byte{"p.wasm": append(bytes.Clone(empty), 0, 0x80)}, "p.wasm", "cut off"},
		{"long length", map[string][]byte{"p.wasm": append(bytes.Clone(empty), 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1)}, "p.wasm", "32 bits"},
		{"long name", map[string][]byte{"p.wasm": append(bytes.Clone(empty), 0, 1, 9)}, "p.wasm", "name is longer"},
		{"two manifests", map[string][]byte{"p.wasm": twice}, "p.wasm", "twice"},
		{"bad manifest", map[string][]byte{"p/armature.json": []byte("{}"), "p/p.wasm": empty}, "p", "p: armature.json:1:1: name: missing"},
		{"no module", map[string][]byte{"p/armature.json": []byte(text)}, "p", "no .wasm file"},
		{"two modules", map[string][]byte{"p/armature.json": []byte(text), "p/a.wasm": empty, "p/b.wasm": empty}, "p", "found a.wasm, b.wasm"},
		{"a folder only", map[string][]byte{"p/p.wasm": empty}, "p", "armature.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tt.files {
				write(t, dir, name, content)
			}
			_, err := bundle.Read(filepath.Join(dir, tt.path))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestReadBoundsSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.wasm")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(bundle.MaxSize + 1); err != nil { // takes no room on disk
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Read(path); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestIsBundle(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.wasm", empty)
	write(t, dir, ".a.wasm", empty)
	write(t, dir, "notes.txt", nil)
	write(t, dir, "b/armature.json", []byte(text))
	write(t, dir, "c/readme", nil)
	for name, want := range map[string]bool{"a.wasm": true, ".a.wasm": false, "notes.txt": false, "b": true, "c": false, "none": false} {
		if got := bundle.IsBundle(filepath.Join(dir, name)); got != want {
			t.Errorf("IsBundle(%s) = %v", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	one, err := bundle.Embed(named, []byte(text))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add(empty)
	f.Add(one[:20])
	f.Fuzz(func(t *testing.T, wasm []byte) {
		b, err := bundle.Parse(wasm)
		if err != nil {
			return
		}
		if _, ok, err := bundle.Section(b.Module, abi.ManifestSection); ok || err != nil {
			t.Errorf("the module still has its manifest: %v, %v", ok, err)
		}
	})
}

func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocTypeFiles: a directory may hold the DocTypes of its plugin in files.
func TestDocTypeFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "todo")
	write(t, dir, "armature.json", []byte(text))
	write(t, dir, "any.wasm", named)
	plain, err := bundle.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "doctypes/a.json", []byte(`{"name": "A"}`))
	write(t, dir, "doctypes/b.json", []byte(`{"name": "B"}`))
	write(t, dir, "doctypes/.b.json.swp", []byte("x"))
	b, err := bundle.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Manifest.DocTypes) != 2 || string(b.Manifest.DocTypes[1]) != `{"name":"B"}` || b.Hash == plain.Hash {
		t.Errorf("DocTypes %s", b.Manifest.DocTypes)
	}
	whole, err := bundle.Whole(dir)
	if err != nil {
		t.Fatal(err)
	}
	if one, err := bundle.Parse(whole); err != nil || one.Hash != b.Hash {
		t.Errorf("as one file: %v", err)
	}
	if files, err := bundle.Files(dir); err != nil || len(files) != 4 {
		t.Errorf("files %v, %v", files, err)
	}
	write(t, dir, "doctypes/c.json", []byte("{"))
	if _, err := bundle.Read(dir); err == nil || !strings.Contains(err.Error(), "c.json") {
		t.Errorf("error %v", err)
	}
}
