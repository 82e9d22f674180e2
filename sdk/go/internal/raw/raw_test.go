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
	text, err := os.ReadFile("../../../abi/contract.json")
	if err != nil {
		t.Skip("the SDK is not in its repository: ", err)
	}
	var v struct {
		Module  string
		Imports []struct {
			Name   string
			Params []struct{ Type string }
			Result *struct{ Type string }
		}
		Capabilities []struct{ Name string }
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
	wasm := func(kind string) string {
		if kind == "i64" {
			return kind
		}
		return "i32"
	}
	want := map[string]string{}
	for _, imp := range v.Imports {
		var params []string
		for _, p := range imp.Params {
			params = append(params, wasm(p.Type))
		}
		want[imp.Name] = strings.Join(params, " ") + " -> "
		if imp.Result != nil {
			want[imp.Name] += wasm(imp.Result.Type)
		}
	}
	for _, c := range v.Capabilities {
		want[c.Name] = "i32 i32 i32 i32 -> i32"
	}
	for name, types := range want {
		if found[name] != types {
			t.Errorf("%s: %q, contract %q", name, found[name], types)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("%s is not in the contract", name)
	}
}
