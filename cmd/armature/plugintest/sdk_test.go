package plugintest_test

import (
	bits "encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/sdk/conformance"
)

// TestConformance: the guest of every language passes every case.
func TestConformance(t *testing.T) {
	for _, l := range armaturetest.SDKs {
		if l.Guest == "" {
			continue
		}
		t.Run(l.Guest, func(t *testing.T) {
			t.Parallel()
			in := armaturetest.New(t).Finding(l.Toolchain(t))
			out, stderr, err := in.Try("", "plugin", "conformance", "--json", filepath.Join(armaturetest.Root(t), "sdk", "conformance", "guests", l.Guest))
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, stderr)
			}
			var report struct{ Passed, Failed int }
			if err := json.Unmarshal([]byte(out), &report); err != nil || report.Failed != 0 || report.Passed < 32 {
				t.Errorf("%v %s", err, out)
			}
		})
	}
}

// TestSDKs runs the tests of the SDKs themselves, which are plugins' tests.
func TestSDKs(t *testing.T) {
	for lang, toolchain := range map[string]func(*testing.T) string{
		"assemblyscript": armaturetest.AssemblyScriptToolchain, "c": armaturetest.Clang, "cpp": armaturetest.CppToolchain, "rust": armaturetest.RustToolchain, "zig": armaturetest.ZigToolchain,
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			in := armaturetest.New(t).Finding(toolchain(t))
			if out, stderr, err := in.Try("", "plugin", "test", filepath.Join(armaturetest.Root(t), "sdk", lang, "testdata")); err != nil {
				t.Errorf("%v\n%s\n%s", err, out, stderr)
			}
		})
	}
}

// TestConformanceFails: a guest whose exports do nothing fails, case by case, and
// so does the command; one that cannot be loaded fails the first case only.
func TestConformanceFails(t *testing.T) {
	in := armaturetest.New(t)
	dir := t.TempDir()
	var m struct {
		Methods []struct{ Export string }
		Events  map[string]struct{ Export string }
	}
	if err := json.Unmarshal(conformance.Manifest, &m); err != nil {
		t.Fatal(err)
	}
	var exports []string
	for _, method := range m.Methods {
		exports = append(exports, method.Export)
	}
	for _, event := range m.Events {
		exports = append(exports, event.Export)
	}
	for _, tt := range []struct {
		name         string
		exports      []string
		want, wanted string
	}{
		{"idle", exports, "pass  load", "FAIL  echo"},
		{"bare", nil, "FAIL  load", "echo"}, // in the reason
	} {
		file := filepath.Join(dir, tt.name+".wasm")
		if err := os.WriteFile(file, idle(tt.exports), 0o600); err != nil {
			t.Fatal(err)
		}
		out, stderr, err := in.Try("", "plugin", "conformance", file)
		if err == nil || !strings.Contains(out, tt.want) || !strings.Contains(out, tt.wanted) ||
			strings.Count(out, "\npass ") > 3 || !strings.Contains(stderr, "cases fail") {
			t.Errorf("%s: %v\n%s\n%s", tt.name, err, out, stderr)
		}
	}
}

// idle is a module whose exports return at once.
func idle(exports []string) []byte {
	section := func(id byte, content []byte) []byte {
		return append(bits.AppendUvarint([]byte{id}, uint64(len(content))), content...)
	}
	names := bits.AppendUvarint(nil, uint64(len(exports)+1))
	for _, name := range append([]string{"memory"}, exports...) {
		names = append(bits.AppendUvarint(names, uint64(len(name))), name...)
		kind := byte(0) // function 0
		if name == "memory" {
			kind = 2
		}
		names = append(names, kind, 0)
	}
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{1, 0x60, 1, 0x7f, 0}), // (i32) -> ()
		section(3, []byte{1, 0}),
		section(5, []byte{1, 0, 1}),
		section(7, names),
		section(10, []byte{1, 2, 0, 0x0b}))
}
