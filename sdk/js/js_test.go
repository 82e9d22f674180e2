package js_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeclarations has the TypeScript compiler check the declarations, what is
// written with them, the examples and what `armature plugin new` writes.
func TestDeclarations(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		put(t, filepath.Join(dir, name), read(t, filepath.Join("check", name)))
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
		t.Skipf("npm ci: %v\n%s", err, out)
	}
	declarations := []string{"armature.d.ts", "armature-test.d.ts"}
	for _, name := range declarations {
		put(t, filepath.Join(dir, name), read(t, name))
	}
	sources := map[string]string{"ts/usage.ts": filepath.Join("check", "usage.ts")}
	for _, lang := range []string{"ts", "js"} {
		for _, name := range []string{"main." + lang, "main.test." + lang} {
			sources[lang+"/new/"+name] = "../../plugins/toolchain/scaffold/templates/" + lang + "/" + name + ".tmpl"
		}
	}
	for _, path := range examples(t) {
		if dir := filepath.Dir(path); filepath.Base(dir) == "public" {
			sources["page/"+filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(path)] = path
			continue
		}
		sources[strings.TrimPrefix(filepath.Ext(path), ".")+"/"+filepath.Base(path)] = path
	}
	put(t, filepath.Join(dir, "ts", "readme.ts"), readmeExamples(t))
	if len(sources) < 11 {
		t.Fatalf("only %v", sources)
	}
	for name, path := range sources {
		// The declarations are here once, wherever a source refers to them.
		text := read(t, path)
		for _, name := range declarations {
			text = strings.ReplaceAll(text, `/// <reference path="../../sdk/js/`+name+`" />`, "")
		}
		put(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	for _, tt := range []struct {
		lang   string
		strict bool // JavaScript has no types to be strict about
		page   bool // runs in a browser, which has other functions
	}{{lang: "ts", strict: true}, {lang: "js"}, {lang: "page", strict: true, page: true}} {
		var config map[string]map[string]any
		if err := json.Unmarshal([]byte(read(t, "tsconfig.json")), &config); err != nil {
			t.Fatal(err)
		}
		options := config["compilerOptions"]
		options["strict"] = tt.strict
		options["skipLibCheck"] = false // the declarations are one
		include := []string{"../*.d.ts", "."}
		if tt.page {
			options["lib"], options["moduleDetection"] = []string{"es2023", "dom", "dom.iterable"}, "force"
			include = []string{"."}
		}
		text, err := json.Marshal(map[string]any{"compilerOptions": options, "include": include})
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, tt.lang, "tsconfig.json"), string(text))
		check := exec.Command(filepath.Join(dir, "node_modules", ".bin", "tsc"), "--project", filepath.Join(dir, tt.lang))
		check.Dir = dir
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("tsc: %v\n%s", err, out)
		}
	}
}

// examples lists the scripts among the examples: files that begin with nothing
// that another compiler reads.
func examples(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", "..", "examples"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "assembly"):
			return fs.SkipDir // npm's, and AssemblyScript
		case strings.HasSuffix(path, ".ts") || strings.HasSuffix(path, ".js"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// readmeExamples is a method that has the examples of the README in it.
func readmeExamples(t *testing.T) string {
	t.Helper()
	_, section, _ := strings.Cut(read(t, "README.md"), "## Every function")
	_, block, _ := strings.Cut(section, "```ts\n")
	block, _, _ = strings.Cut(block, "```")
	var b strings.Builder
	b.WriteString("export async function examples(args: any) {\n")
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, "  ") {
			b.WriteString(line)
		}
	}
	return b.String() + "}\n"
}
