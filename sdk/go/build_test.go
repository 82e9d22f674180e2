package armature_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The example plugins build, and the capabilities that their modules import are those
// that their manifests ask for: the linker has dropped every other. What is done with
// documents and methods is asked for by scopes, which no import tells.
func TestExamplesImportWhatTheyAskFor(t *testing.T) {
	if testing.Short() {
		t.Skip("builds WebAssembly")
	}
	manifests, _ := filepath.Glob("../../examples/*/armature.json")
	built := 0
	for _, manifest := range manifests {
		dir := filepath.Dir(manifest)
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		built++
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var m struct {
				Methods []struct{ Path, Export string }
				Grants  []string
			}
			text, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			imports, exports := names(t, build(t, dir))
			imports, grants := capabilities(imports), capabilities(m.Grants)
			if !slices.Equal(imports, grants) {
				t.Errorf("imports %v, grants %v", imports, grants)
			}
			for _, method := range m.Methods {
				export := method.Export
				if export == "" {
					export = method.Path
				}
				if !slices.Contains(exports, export) {
					t.Errorf("no export %s among %v", export, exports)
				}
			}
		})
	}
	if built == 0 {
		t.Skip("the SDK is not in its repository")
	}
}

// capabilities are those among the names of imports or among grants, as grants name
// them.
func capabilities(names []string) (words []string) {
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "kv_"):
			name = "kv"
		case !slices.Contains([]string{"kv", "http_fetch", "connected_request", "enqueue", "publish", "sendmail"}, name):
			continue
		}
		words = append(words, name)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func build(t *testing.T, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "plugin.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-w", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// names reads the function imports from armature1 and the exports of a module.
func names(t *testing.T, wasm []byte) (imports, exports []string) {
	t.Helper()
	const importSection, exportSection = 2, 7
	for rest := wasm[8:]; len(rest) > 0; {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:])
		body := rest[1+n : 1+n+int(size)]
		rest = rest[1+n+int(size):]
		number := func() uint64 {
			v, n := binary.Uvarint(body)
			body = body[n:]
			return v
		}
		name := func() string {
			n := number()
			s := string(body[:n])
			body = body[n:]
			return s
		}
		switch id {
		case importSection:
			for range number() {
				module, field := name(), name()
				if kind := number(); kind != 0 {
					t.Fatalf("import %s.%s is not a function", module, field)
				}
				number() // its type
				if strings.HasPrefix(module, "armature") {
					imports = append(imports, field)
				}
			}
		case exportSection:
			for range number() {
				exports = append(exports, name())
				number() // kind
				number() // index
			}
		}
	}
	return imports, exports
}
