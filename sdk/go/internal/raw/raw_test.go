package raw_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The imports are those of the contract, with the types it states: a wrong one
// would only be found when a plugin that uses it is loaded.
func TestImportsAreTheContract(t *testing.T) {
	text, err := os.ReadFile("../../../abi/vectors.json")
	if err != nil {
		t.Skip("the SDK is not in its repository: ", err)
	}
	var v struct {
		Module  string
		Imports []struct {
			Name            string
			Params, Results []string
		}
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("raw_wasip1.go")
	if err != nil {
		t.Fatal(err)
	}
	lowered := map[string]string{"int32": "i32", "int64": "i64", "unsafe.Pointer": "i32"}
	types := func(list string) string {
		var out, pending []string
		for _, param := range strings.Split(list, ",") {
			words := strings.Fields(param)
			switch len(words) {
			case 1: // a result, or a name that shares the type of a later one
				if low, ok := lowered[words[0]]; ok {
					out = append(out, low)
				} else {
					pending = append(pending, words[0])
				}
			case 2:
				for range pending {
					out = append(out, lowered[words[1]])
				}
				pending = nil
				out = append(out, lowered[words[1]])
			}
		}
		return strings.Join(out, " ")
	}
	found := map[string]string{}
	decl := regexp.MustCompile(`//go:wasmimport (\w+) (\w+)\n(?://go:noescape\n)?func \w+\(([^)]*)\) ?(\w*)\n`)
	for _, m := range decl.FindAllStringSubmatch(string(source), -1) {
		if m[1] != v.Module {
			t.Errorf("%s is imported from %s", m[2], m[1])
		}
		found[m[2]] = types(m[3]) + " -> " + types(m[4])
	}
	if n := strings.Count(string(source), "//go:wasmimport"); n != len(found) {
		t.Fatalf("%d imports in the source, %d understood", n, len(found))
	}
	for _, imp := range v.Imports {
		want := strings.Join(imp.Params, " ") + " -> " + strings.Join(imp.Results, " ")
		if found[imp.Name] != want {
			t.Errorf("%s: %q, contract %q", imp.Name, found[imp.Name], want)
		}
		delete(found, imp.Name)
	}
	for name := range found {
		t.Errorf("%s is not in the contract", name)
	}
}

// The stand-in asks for each capability by its own name.
func TestNativeNames(t *testing.T) {
	wasm, err := os.ReadFile("raw_wasip1.go")
	if err != nil {
		t.Fatal(err)
	}
	native, err := os.ReadFile("raw_native.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]string{}
	for _, m := range regexp.MustCompile(`func (\w+)\(in, out \[\]byte\) int32 +{ return host\(\).Call\("(\w+)", in, out\) }`).FindAllStringSubmatch(string(native), -1) {
		calls[m[1]] = m[2]
	}
	imports := map[string]string{}
	for _, m := range regexp.MustCompile(`wasmimport armature1 (\w+)\n//go:noescape\nfunc (\w+)`).FindAllStringSubmatch(string(wasm), -1) {
		imports[m[2]] = m[1]
	}
	wrappers := regexp.MustCompile(`func (\w+)\(in, out \[\]byte\) int32 +{\s*return (\w+)\(at`).FindAllStringSubmatch(string(wasm), -1)
	if len(wrappers) == 0 || len(wrappers) != len(calls) {
		t.Fatalf("%d capabilities for wasm, %d for tests", len(wrappers), len(calls))
	}
	for _, m := range wrappers {
		if imports[m[2]] != calls[m[1]] {
			t.Errorf("%s is %q in wasm and %q in tests", m[1], imports[m[2]], calls[m[1]])
		}
	}
}
