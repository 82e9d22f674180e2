package abi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// generated is what make generate has put into a file that people wrote.
var generated = regexp.MustCompile(`(?s)begin generated: (requests|bindings).*?end generated: (requests|bindings)`)

// TestReadmesHaveEveryFunction: the README of each SDK lists the functions that the
// SDK exports, with their signatures, each with an example, and no other.
func TestReadmesHaveEveryFunction(t *testing.T) {
	for _, sdk := range []struct {
		dir, block string
		files      []string
		function   *regexp.Regexp // of which the groups are the signature
		within     *regexp.Regexp // opens what functions are members of
		hidden     string         // in signatures of what is not for authors
	}{
		{"go", "go", []string{"armature.go", "caller.go", "clock.go", "config.go", "doc.go", "document.go", "error.go", "handle.go", "http.go", "kv.go", "list.go", "log.go", "method.go", "codec.go"},
			regexp.MustCompile(`(?m)^(func (?:\([^)]*\) )?[A-Z].*?) \{`), nil, "none"},
		{"c", "c", []string{"armature.h"}, regexp.MustCompile(`(?m)^(?:AM_FN|static inline)(?: __attribute__\(\([^)]*\)\))? (.*?\)) \{`), nil, "_("},
		{"rust", "rust", []string{"src/document.rs", "src/service.rs", "src/json.rs", "src/body.rs", "src/error.rs", "src/lib.rs", "src/kind.rs"},
			regexp.MustCompile(`(?m)^\s*pub (fn .*?) \{`), regexp.MustCompile(`^impl (\w+) \{`), "none"},
		{"zig", "zig", []string{"armature.zig"}, regexp.MustCompile(`(?m)^\s*pub (?:inline )?(fn .*?) \{`), regexp.MustCompile(`^pub const (\w+) = (?:struct|enum)`), "json"},
		{"assemblyscript", "ts", []string{"armature.ts"}, regexp.MustCompile(`(?m)^(?:export function|  (?:static |get )?)\s?([a-z]\w*(?:<T>)?\(.*?\): .*?) \{`), regexp.MustCompile(`^export class (\w+)`), "none"},
	} {
		t.Run(sdk.dir, func(t *testing.T) {
			var want []string
			for _, file := range sdk.files {
				text, err := os.ReadFile(filepath.Join("..", sdk.dir, file))
				if err != nil {
					t.Fatal(err)
				}
				source, _, _ := strings.Cut(generated.ReplaceAllString(string(text), ""), "#[cfg(test)]")
				member := ""
				for line := range strings.SplitSeq(source, "\n") {
					if sdk.within != nil {
						if m := sdk.within.FindStringSubmatch(line); m != nil {
							member = m[1]
						} else if line == "}" || line == "};" || strings.HasPrefix(line, "class ") {
							member = ""
						}
					}
					m := sdk.function.FindStringSubmatch(line)
					inside := strings.HasPrefix(line, " ")
					if m == nil || inside && member == "" || strings.Contains(m[1], sdk.hidden) || sdk.dir == "assemblyscript" && regexp.MustCompile(`^(constructor|if|for|while|switch)\b`).MatchString(m[1]) {
						continue
					}
					signature := strings.Replace(m[1], "(mut self", "(self", 1)
					if inside {
						signature = inMember(sdk.dir, member, signature)
					}
					want = append(want, signature)
				}
			}
			got, _ := functionsOf(t, sdk.dir, sdk.block)
			slices.Sort(want)
			for _, signature := range want {
				if !slices.Contains(got, signature) {
					t.Errorf("the README has no %s", signature)
				}
			}
			for _, signature := range got {
				if !slices.Contains(want, signature) && !strings.HasPrefix(signature, "AM_METHOD") {
					t.Errorf("the README has %s, which there is not", signature)
				}
			}
			if len(want) < 50 {
				t.Errorf("only %d functions", len(want))
			}
		})
	}
}

// TestReadmeOfCPP: the same for C++, whose signatures are of many forms: every function
// that is not in the namespace detail has its name and an example.
func TestReadmeOfCPP(t *testing.T) {
	text, err := os.ReadFile("../cpp/armature.hpp")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`(?s)namespace detail \{.*?\}  // namespace detail`).ReplaceAllString(generated.ReplaceAllString(string(text), ""), "")
	signatures, examples := functionsOf(t, "cpp", "cpp")
	if len(signatures) != len(examples) {
		t.Errorf("%d functions, %d examples", len(signatures), len(examples))
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:  )?(?:(?:inline|static|constexpr|explicit|\[\[noreturn\]\]) )*[\w:]+(?:<.*?>+)?[&*]? ([a-z_]+)\([^;\n]*\{`).FindAllStringSubmatch(source, -1) {
		switch m[1] {
		case "if", "for", "while", "switch", "must", "add", "to_json", "from_json", "to", "bool":
			continue
		}
		named[m[1]] = true
		if !slices.ContainsFunc(signatures, func(s string) bool { return strings.Contains(s, " "+m[1]+"(") }) {
			t.Errorf("the README has no %s", m[1])
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d functions: %v", len(named), named)
	}
}

// TestReadmeOfScripts: the same for JavaScript and TypeScript, as far as a function is
// the platform's and not the web's.
func TestReadmeOfScripts(t *testing.T) {
	text, err := os.ReadFile("../js/armature.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	signatures, _ := functionsOf(t, "js", "ts")
	object, found := "", 0
	for line := range strings.SplitSeq(string(text), "\n") {
		if m := regexp.MustCompile(`^declare const (doc|kv|caller|request|log): \{`).FindStringSubmatch(line); m != nil {
			object = m[1] + "."
		} else if line == "};" {
			object = ""
		}
		signature, declared := strings.CutPrefix(line, "declare function ")
		if object != "" {
			signature, declared = strings.CutPrefix(line, "  ")
			signature, declared = object+signature, declared && regexp.MustCompile(`^  [a-z]+[<(]`).MatchString(line)
		}
		if !declared || regexp.MustCompile(`^(structuredClone|atob|btoa|queueMicrotask|setTimeout|clearTimeout)\b`).MatchString(signature) {
			continue
		}
		if found++; !slices.Contains(signatures, signature) {
			t.Errorf("the README has no %s", signature)
		}
	}
	if found != len(signatures) {
		t.Errorf("%d functions, the README has %d", found, len(signatures))
	}
}

// inMember is the signature of a function of a type.
func inMember(sdk, member, signature string) string {
	switch sdk {
	case "rust":
		return "fn " + member + "::" + strings.TrimPrefix(signature, "fn ")
	case "zig":
		return "fn " + member + "." + strings.TrimPrefix(signature, "fn ")
	}
	return member + "." + signature
}

// functionsOf reads the signatures of a README, and the example of each.
func functionsOf(t *testing.T, sdk, language string) (signatures, examples []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", sdk, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Every function")
	_, block, _ := strings.Cut(section, "```"+language+"\n")
	block, _, _ = strings.Cut(block, "```")
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
		case line[0] == ' ' || line[0] == '\t':
			if len(examples) != len(signatures)-1 {
				t.Errorf("no function is exampled by %s", line)
			}
			examples = append(examples, strings.TrimSpace(line))
		default:
			if len(examples) != len(signatures) {
				t.Errorf("there is no example of %s", signatures[len(signatures)-1])
				examples = append(examples, "")
			}
			signatures = append(signatures, line)
		}
	}
	return signatures, examples
}

// TestReadmeExamplesCompile: the examples of the READMEs are what a compiler takes.
func TestReadmeExamplesCompile(t *testing.T) {
	sdks, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, dir, program string, args ...string) {
		t.Helper()
		path, err := exec.LookPath(program)
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	write := func(t *testing.T, dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("go", func(t *testing.T) {
		dir := t.TempDir()
		var b strings.Builder
		b.WriteString("package main\n\nimport \"armature/sdk/go\"\n\nfunc main() {}\n\ntype Task struct{ Subject string }\n\n" +
			"var (\n\terr error\n\ttodo armature.Doc\n\tuser armature.User\n\tb []byte\n\tn int32\n)\n\nfunc closeToDo(armature.None) (armature.None, error) { return armature.None{}, nil }\n")
		defined := regexp.MustCompile(`^([\w, ]+) :=`)
		_, examples := functionsOf(t, "go", "go")
		for _, example := range examples {
			b.WriteString("\nfunc _() {\n\t" + example + "\n")
			if m := defined.FindStringSubmatch(example); m != nil {
				for name := range strings.SplitSeq(m[1], ", ") {
					b.WriteString("\t_ = " + name + "\n")
				}
			}
			b.WriteString("}\n")
		}
		write(t, dir, "main.go", b.String())
		write(t, dir, "go.mod", "module examples\n\ngo 1.24\n\nrequire armature/sdk/go v0.0.0\n\nreplace armature/sdk/go => "+filepath.Join(sdks, "go")+"\n")
		run(t, dir, "go", "build", "-o", os.DevNull, ".")
	})
	t.Run("c", func(t *testing.T) {
		dir := t.TempDir()
		var b strings.Builder
		b.WriteString("#include \"armature.h\"\nstatic am_val v; static am_json j, rows; static am_query q;\n")
		_, examples := functionsOf(t, "c", "c")
		for i, example := range examples {
			if strings.Contains(example, "AM_METHOD(") {
				b.WriteString(example + "\n")
				continue
			}
			b.WriteString("void example_" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + "(void) { " + example + " }\n")
		}
		write(t, dir, "examples.c", b.String())
		run(t, dir, "clang", "--target=wasm32", "-std=gnu11", "-fsyntax-only", "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types", "-I", filepath.Join(sdks, "c"), "examples.c")
	})
	t.Run("rust", func(t *testing.T) {
		dir := t.TempDir()
		var b strings.Builder
		b.WriteString("#![allow(unused)]\nuse armature::*;\n")
		_, examples := functionsOf(t, "rust", "rust")
		for i, example := range examples {
			b.WriteString("fn e" + strings.Repeat("_", i+1) + "(mut args: Object) -> Result<()> {\n    " + example + "\n    Ok(())\n}\n")
		}
		write(t, dir, "examples.rs", b.String())
		run(t, dir, "rustc", "--edition", "2021", "--crate-type", "rlib", "--crate-name", "armature", "--emit", "metadata", "-o", "libarmature.rmeta", filepath.Join(sdks, "rust", "src", "lib.rs"))
		run(t, dir, "rustc", "--edition", "2021", "--crate-type", "rlib", "--emit", "metadata", "--extern", "armature=libarmature.rmeta", "-o", "examples.rmeta", "examples.rs")
	})
}
