package sourcemap_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/runtime/sourcemap"
)

func TestFind(t *testing.T) {
	table := &sourcemap.Table{Files: []string{"", "a.c"}, Rows: []sourcemap.Row{
		{Offset: 10, File: 1, Line: 3, Column: 7}, {Offset: 20, File: 1, Line: 2}, {Offset: 30},
	}}
	decoded, err := sourcemap.Decode(table.Encode())
	if err != nil || !slices.Equal(decoded.Files, table.Files) || !slices.Equal(decoded.Rows, table.Rows) {
		t.Fatalf("%+v, %v", decoded, err)
	}
	for offset, want := range map[uint32]sourcemap.Place{10: {"a.c", 3, 7}, 19: {"a.c", 3, 7}, 20: {"a.c", 2, 0}, 29: {"a.c", 2, 0}, 9: {}, 30: {}, 1 << 31: {}} {
		if got, ok := decoded.Find(offset); got != want || ok != (want != sourcemap.Place{}) {
			t.Errorf("%d: %v", offset, got)
		}
	}
}

func TestMalformed(t *testing.T) {
	good := (&sourcemap.Table{Files: []string{"a.c"}, Rows: []sourcemap.Row{{Offset: 1, Line: 1}}}).Encode()
	for i := range good {
		if _, err := sourcemap.Decode(good[:i]); err == nil {
			t.Errorf("%d of %d bytes were taken", i, len(good))
		}
	}
	for name, b := range map[string][]byte{
		"more":          append(bytes.Clone(good), 0),
		"other version": append([]byte{2}, good[1:]...),
		"no such file":  {1, 0, 1, 1, 0, 2, 0},
		"many rows":     binary.AppendUvarint([]byte{1, 0}, 1<<20),
	} {
		if _, err := sourcemap.Decode(b); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestSourceMap: columns are bytes of the file, places are of the code section.
func TestSourceMap(t *testing.T) {
	wasm := []byte("\x00asm\x01\x00\x00\x00\x0a\x20" + strings.Repeat("\x00", 32)) // the code begins at 10
	// Column 12: a.ts:1:1; 15: a.ts:3:5; 18: nowhere; 60: past the end.
	text := `{"version": 3, "sources": ["a.ts"], "names": [], "mappings": "YAAA,GAEI,G,0CAAA"}`
	table, err := sourcemap.FromSourceMap(wasm, []byte(text), strings.ToUpper)
	if err != nil {
		t.Fatal(err)
	}
	want := []sourcemap.Row{{2, 1, 1, 1}, {5, 1, 3, 5}, {Offset: 8}}
	if !slices.Equal(table.Rows, want) || !slices.Equal(table.Files, []string{"", "A.TS"}) {
		t.Errorf("%v %v", table.Files, table.Rows)
	}
	for _, wrong := range []string{``, `{}`, `{"version": 3, "mappings": "!"}`, `{"version": 3, "mappings": "YCAA"}`} {
		if _, err := sourcemap.FromSourceMap(wasm, []byte(wrong), strings.ToUpper); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}

// TestDWARF: what clang says about a function, without those the linker leaves out.
func TestDWARF(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("clang is missing: apt-get install clang lld")
		}
		t.Skip("clang is missing: apt-get install clang lld")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(`int unused(int n) {
  return n + 1;
}
__attribute__((export_name("f"))) int f(int n, int m) {
  return n /
         m;
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, "a.wasm")
	for _, command := range [][]string{
		{clang, "--target=wasm32", "-nostdlib", "-ffunction-sections", "-g", "-O1", "-c", "a.c"},
		{"wasm-ld", "--no-entry", "--gc-sections", "-o", module, "a.o"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	wasm, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	table, err := sourcemap.FromDWARF(wasm, filepath.Base)
	if err != nil || table == nil {
		t.Fatalf("%v, %v", table, err)
	}
	found := map[uint32]bool{}
	for _, r := range table.Rows {
		if r.Line != 0 && table.Files[r.File] != "a.c" {
			t.Errorf("row %v of %v", r, table.Files)
		}
		found[r.Line] = true
	}
	if !found[5] || found[2] {
		t.Errorf("rows %v", table.Rows)
	}
	whole, err := table.Embed(wasm)
	if err != nil || bytes.Contains(whole, []byte(".debug_")) || !bytes.Contains(whole, []byte(sourcemap.Section)) {
		t.Errorf("%d bytes of %d: %v", len(whole), len(wasm), err)
	}
	if again, err := sourcemap.FromDWARF(whole, filepath.Base); again != nil || err != nil {
		t.Errorf("%v %v", again, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&sourcemap.Table{Files: []string{"", "a.c"}, Rows: []sourcemap.Row{{1, 1, 2, 3}, {4, 1, 1, 0}, {Offset: 9}}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := sourcemap.Decode(b)
		if err != nil {
			return
		}
		for _, r := range table.Rows {
			table.Find(r.Offset)
		}
		if again, err := sourcemap.Decode(table.Encode()); err != nil || !slices.Equal(again.Rows, table.Rows) {
			t.Errorf("%v became %v, %v", table, again, err)
		}
	})
}
