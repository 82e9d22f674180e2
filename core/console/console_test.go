package console

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"armature/core/openapi/typescript"
)

// TestFirstLoad: what a browser fetches before it shows anything is small.
func TestFirstLoad(t *testing.T) {
	files, err := packed()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, name := range []string{"main.js", "library.js", "main.css"} {
		f := files[name]
		if f == nil {
			t.Fatalf("%s is not built", name)
		}
		sum += len(f.gzip)
	}
	t.Logf("first load: %d bytes", sum)
	if sum > 200<<10 {
		t.Errorf("the first load has %d bytes", sum)
	}
}

// sources are the files of the program, by their path in src.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(strings.TrimPrefix(path, "src"+string(filepath.Separator)))] = string(text)
		return err
	})
	if err != nil || len(all) < 20 {
		t.Fatalf("%d files: %v", len(all), err)
	}
	return all
}

// TestSources: no markup is made of values, and a component is read in one go.
func TestSources(t *testing.T) {
	for path, text := range sources(t) {
		for _, bad := range []string{"{@html", "innerHTML", "outerHTML", "insertAdjacentHTML", "createContextualFragment", "document.write", "eval(", "new Function"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", path, bad)
			}
		}
		if lines := strings.Count(text, "\n"); strings.HasSuffix(path, ".svelte") && lines > 200 {
			t.Errorf("%s has %d lines", path, lines)
		}
	}
}

// TestArrows: api knows nothing of ours, data knows api, fields know both; what people see
// knows all. A link field opens a form, and nothing else goes back.
func TestArrows(t *testing.T) {
	may := map[string][]string{
		"api":    {"api"},
		"words":  {"words"},
		"data":   {"api", "data"},
		"fields": {"api", "data", "fields", "words"},
		"parts":  {"api", "data", "fields", "parts", "words"},
		"views":  {"api", "data", "fields", "parts", "views", "words"},
	}
	imports := regexp.MustCompile(`(?:from|import\()\s*"(\.[^"]+)"`)
	for path, text := range sources(t) {
		from, _, below := strings.Cut(path, "/")
		if !below {
			continue
		}
		if may[from] == nil {
			t.Errorf("%s: no rule speaks of %s", path, from)
		}
		for _, found := range imports.FindAllStringSubmatch(text, -1) {
			to, _, _ := strings.Cut(filepath.ToSlash(filepath.Join(filepath.Dir(path), found[1])), "/")
			if !slices.Contains(may[from], to) && !(path == "fields/Link.svelte" && strings.HasSuffix(found[1], "/QuickCreate.svelte")) {
				t.Errorf("%s imports %s", path, found[1])
			}
		}
	}
}

// TestClient: the program asks by the client that the server gives to others.
func TestClient(t *testing.T) {
	made, err := typescript.Client([]byte(`{"openapi": "3.1.0"}`))
	if err != nil {
		t.Fatal(err)
	}
	if sources(t)["api/armature.ts"] != string(made["armature.ts"]) {
		t.Error("src/api/armature.ts is not what armature client ts writes")
	}
}
