// Package abi_test compares the contract that guests are written against with
// the code of the host: vectors.json and the tables of abi.md with packages
// runtime/abi and core/fault. Whatever is in one of them must be in all.
package abi_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/runtime/abi"
)

type vectors struct {
	Module          string
	Version         int
	ManifestSection string   `json:"manifest_section"`
	ScriptSections  []string `json:"script_sections"`
	ReservedPrefix  string   `json:"reserved_prefix"`
	Method          struct{ Params, Results []string }
	Imports         []importVector
	Exports         []struct{ Name, Shape string }
	Kinds           []struct {
		Kind, Status int
		Name         string
		ExcType      string `json:"exc_type"`
	}
	LogLevels []struct {
		Level int
		Name  string
	} `json:"log_levels"`
}

type importVector struct {
	Name, Shape     string
	Params, Results []string
	Optional        bool
}

const capabilityShape = "(in, in_len, out, out_cap) -> len"

func load(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	var v vectors
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// constants is the constants of a Go file by name: values as in the source, and
// the comment on each line. Reading the source is the only way to notice a
// constant that nobody has put into a list.
func constants(t *testing.T, path string) (values, comments map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	values, comments = map[string]string{}, map[string]string{}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			vs := spec.(*ast.ValueSpec)
			for i, name := range vs.Names {
				if i >= len(vs.Values) {
					t.Fatalf("%s: constant %s has no value of its own", path, name)
				}
				lit, ok := vs.Values[i].(*ast.BasicLit)
				if !ok {
					t.Fatalf("%s: constant %s is not a literal", path, name)
				}
				values[name.Name] = lit.Value
				if lit.Kind == token.STRING {
					values[name.Name], _ = strconv.Unquote(lit.Value)
				}
				comments[name.Name] = strings.TrimSpace(vs.Comment.Text())
			}
		}
	}
	return values, comments
}

func TestVectorsAreTheHostsNames(t *testing.T) {
	v := load(t)
	if v.Module != abi.Module || v.Version != abi.Version || v.ManifestSection != abi.ManifestSection || v.ReservedPrefix != abi.ReservedPrefix {
		t.Errorf("module, version, section or prefix: vectors %+v", v)
	}

	values, comments := constants(t, "../../runtime/abi/abi.go")
	left := map[string]string{} // value -> constant
	for name, value := range values {
		left[value] = name
	}
	for _, known := range append(v.ScriptSections, v.Module, strconv.Itoa(v.Version), v.ManifestSection, v.ReservedPrefix) {
		delete(left, known)
	}
	for _, level := range v.LogLevels {
		name := "Level" + level.Name
		if values[name] != strconv.Itoa(level.Level) {
			t.Errorf("log level %s: vectors %d, runtime/abi %q", level.Name, level.Level, values[name])
		}
		delete(left, values[name])
	}
	for _, export := range v.Exports {
		if left[export.Name] == "" {
			t.Errorf("export %s is not in runtime/abi", export.Name)
		}
		delete(left, export.Name)
	}
	for _, imp := range v.Imports {
		constant := left[imp.Name]
		if constant == "" {
			t.Errorf("import %s is not in runtime/abi", imp.Name)
			continue
		}
		if !slices.Contains(abi.Capabilities(), imp.Name) && !strings.HasPrefix(comments[constant]+",", imp.Shape+",") {
			t.Errorf("import %s: vectors say %q, runtime/abi says %q", imp.Name, imp.Shape, comments[constant])
		}
		delete(left, imp.Name)
	}
	for value, name := range left {
		// A level shares its value with others, such as the version.
		if !strings.HasPrefix(name, "Level") && name != "Version" {
			t.Errorf("runtime/abi has %s = %q, which vectors.json has not", name, value)
		}
	}
	levels := 0
	for name := range values {
		if strings.HasPrefix(name, "Level") {
			levels++
		}
	}
	if levels != len(v.LogLevels) {
		t.Errorf("%d log levels in runtime/abi, %d in vectors.json", levels, len(v.LogLevels))
	}
}

func TestCapabilities(t *testing.T) {
	var names []string
	for _, imp := range load(t).Imports {
		if imp.Shape == capabilityShape {
			names = append(names, imp.Name)
		}
	}
	if !slices.Equal(names, abi.Capabilities()) {
		t.Errorf("capabilities\nvectors     %v\nruntime/abi %v", names, abi.Capabilities())
	}
}

// The written shape and the types say the same thing twice.
func TestShapesAgreeWithTypes(t *testing.T) {
	for _, imp := range load(t).Imports {
		params, _, _ := strings.Cut(strings.TrimPrefix(imp.Shape, "("), ")")
		want := 0
		if params != "" {
			want = len(strings.Split(params, ","))
		}
		if len(imp.Params) != want {
			t.Errorf("%s: shape %q, params %v", imp.Name, imp.Shape, imp.Params)
		}
		if strings.Contains(imp.Shape, "->") != (len(imp.Results) == 1) {
			t.Errorf("%s: shape %q, results %v", imp.Name, imp.Shape, imp.Results)
		}
	}
}

func TestKindsAreFaultKinds(t *testing.T) {
	v := load(t)
	names, _ := constants(t, "../../core/fault/kind.go")
	if len(v.Kinds) != len(fault.Kinds()) || len(v.Kinds) != len(names) {
		t.Errorf("%d kinds in vectors.json, %d in fault.Kinds, %d constants", len(v.Kinds), len(fault.Kinds()), len(names))
	}
	for i, k := range v.Kinds {
		if k.Kind != i+1 {
			t.Errorf("kind %s has number %d in place %d", k.Name, k.Kind, i+1)
		}
		kind := fault.Kind(k.Kind)
		if !kind.Valid() || kind.ExcType() != k.ExcType || kind.Status() != k.Status || names[k.Name] != strconv.Itoa(k.Kind) {
			t.Errorf("kind %+v: core/fault has %q = %s, %s, %d", k, k.Name, names[k.Name], kind.ExcType(), kind.Status())
		}
	}
}

// tables returns the rows of abi.md's tables by the headline above them, cells
// without their backticks.
func tables(t *testing.T) map[string][][]string {
	t.Helper()
	text, err := os.ReadFile("abi.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][][]string{}
	section, inTable := "", false
	for _, line := range strings.Split(string(text), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		} else if title, ok := strings.CutPrefix(line, "### "); ok {
			section = title
		}
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		if !inTable || strings.HasPrefix(line, "|---") { // the heading, the rule
			inTable = true
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.Trim(strings.TrimSpace(cell), "`"))
		}
		found[section] = append(found[section], cells)
	}
	return found
}

// equal compares rows whatever their order, naming those that one side lacks.
func equal(t *testing.T, what string, prose, vector []string) {
	t.Helper()
	for _, row := range prose {
		if !slices.Contains(vector, row) {
			t.Errorf("%s: abi.md has %q, vectors.json has not", what, row)
		}
	}
	for _, row := range vector {
		if !slices.Contains(prose, row) {
			t.Errorf("%s: vectors.json has %q, abi.md has not", what, row)
		}
	}
	if len(prose) != len(vector) {
		t.Errorf("%s: %d rows in abi.md, %d in vectors.json", what, len(prose), len(vector))
	}
}

func TestProseAgreesWithVectors(t *testing.T) {
	v, prose := load(t), tables(t)
	columns := func(section string, n int) (rows []string) {
		for _, cells := range prose[section] {
			rows = append(rows, strings.Join(cells[:min(n, len(cells))], " | "))
		}
		return rows
	}
	var imports, exports, kinds, levels []string
	for _, i := range v.Imports {
		imports = append(imports, i.Name+" | "+i.Shape)
	}
	for _, e := range v.Exports {
		exports = append(exports, e.Name+" | "+e.Shape)
	}
	for _, k := range v.Kinds {
		kinds = append(kinds, fmt.Sprintf("%d | %s | %s | %d", k.Kind, k.Name, k.ExcType, k.Status))
	}
	for _, l := range v.LogLevels {
		levels = append(levels, fmt.Sprintf("%d | %s", l.Level, l.Name))
	}
	equal(t, "imports", columns("Imports", 2), imports)
	equal(t, "exports", columns("Exports", 2), exports)
	equal(t, "kinds", columns("Kinds", 4), kinds)
	equal(t, "log levels", columns("Log levels", 2), levels)
}

// Every import is explained: a capability by a row with its request, the others
// by a section that lists traps, errors and an example.
func TestEveryImportIsExplained(t *testing.T) {
	text, err := os.ReadFile("abi.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for section, table := range tables(t) {
		if section == "Imports" {
			continue
		}
		for _, cells := range table {
			rows[cells[0]] = true
		}
	}
	for _, imp := range load(t).Imports {
		if imp.Shape == capabilityShape {
			if !rows[imp.Name] {
				t.Errorf("abi.md has no row with the request of %s", imp.Name)
			}
			continue
		}
		_, section, found := strings.Cut(string(text), "\n### "+imp.Name+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		if !found || !strings.Contains(section, "*Traps*") || !strings.Contains(section, "*Errors*") || !strings.Contains(section, "*Example*") {
			t.Errorf("abi.md has no section on %s with its traps, errors and an example", imp.Name)
		}
	}
}

// JSON examples are what authors copy.
func TestExamplesAreJSON(t *testing.T) {
	text, err := os.ReadFile("abi.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```")
	seen := 0
	for i := 1; i < len(blocks); i += 2 {
		if body, ok := strings.CutPrefix(blocks[i], "json\n"); ok {
			seen++
			if !json.Valid([]byte(body)) {
				t.Errorf("not JSON: %s", body)
			}
		}
	}
	if seen == 0 {
		t.Error("no examples found")
	}
	requests := map[string]bool{}
	for _, section := range []string{"Documents", "Methods and the caller", "The plugin's store", "HTTP"} {
		for _, cells := range tables(t)[section] {
			requests[cells[0]] = true
			if strings.HasPrefix(cells[1], "{") && !json.Valid([]byte(cells[1])) {
				t.Errorf("%s: not JSON: %s", cells[0], cells[1])
			}
		}
	}
	if missing := slices.DeleteFunc(abi.Capabilities(), func(c string) bool { return requests[c] }); len(missing) > 0 {
		t.Errorf("no example for %v, only for %v", missing, slices.Sorted(maps.Keys(requests)))
	}
}
