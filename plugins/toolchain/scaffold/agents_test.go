package scaffold_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"armature/plugins/toolchain/scaffold"
)

// declared is how a language says that there is a function; %s is its name. A method of a
// type is one, too.
var declared = map[string]string{
	"go":             `\bfunc (\(\w+ \*?\w+\) )?%s[(\[]`,
	"rust":           `\bfn %s\b|macro_rules! %s\b`,
	"c":              `\b%s\(`,
	"cpp":            `[>&a-z] %s\(`,
	"zig":            `\bpub fn %s\(`,
	"assemblyscript": `(export function|^  ) ?%s(<\w+>)?\(|export class %s\b`,
	"js":             `(\bfunction |^\s+|class )%s\b[^\n]*[({]|const %s\b`,
	"ts":             `(\bfunction |^\s+|class )%s\b[^\n]*[({]|const %s\b`,
	"wat":            `"(name|import)": ?"%s"`,
}

var (
	codes  = regexp.MustCompile("`([^`]+)`")
	called = regexp.MustCompile(`([A-Za-z_]\w*)(\[T\])?\(`)
	types  = regexp.MustCompile(`armature\.([A-Z]\w*)\{`)
)

// TestAgents: every function that AGENTS.md names is one of the SDK beside it.
func TestAgents(t *testing.T) {
	for _, lang := range scaffold.Languages() {
		t.Run(lang, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "plugin")
			if err := scaffold.Write(lang, "acme.fresh", dir); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "AGENTS.md"))
			if err != nil {
				t.Fatal(err)
			}
			sdk := sources(t, dir)
			if lang == "wat" {
				contract, err := os.ReadFile("../../../sdk/abi/contract.json")
				if err != nil {
					t.Fatal(err)
				}
				sdk = string(contract) + `{"name": "input"} {"name": "output"} {"name": "throw"} {"name": "take"}`
			}
			_, short, found := strings.Cut(string(text), "## The SDK in short")
			names := map[string]bool{}
			for _, code := range codes.FindAllStringSubmatch(short, -1) {
				for _, name := range called.FindAllStringSubmatch(code[1], -1) {
					names[name[1]] = true
				}
				for _, name := range types.FindAllStringSubmatch(code[1], -1) {
					if !regexp.MustCompile(`(?m)^type ` + name[1] + `\b|^	` + name[1] + ` struct`).MatchString(sdk) {
						t.Errorf("the SDK has no type %s", name[1])
					}
				}
			}
			if !found || len(names) < 12 {
				t.Fatalf("AGENTS.md names %d functions", len(names))
			}
			for name := range names {
				if !regexp.MustCompile(`(?m)` + strings.ReplaceAll(declared[lang], "%s", name)).MatchString(sdk) {
					t.Errorf("the SDK has no %s", name)
				}
			}
		})
	}
}

// sources are the files of a new plugin that are the SDK, together.
func sources(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if !strings.HasPrefix(filepath.ToSlash(rel), "armature") || strings.HasSuffix(path, ".json") {
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
