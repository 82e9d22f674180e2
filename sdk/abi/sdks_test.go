package abi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Every SDK has every import and every kind of error, each with its number.
func TestSDKsAreComplete(t *testing.T) {
	upper := func(name string) string { // NotFound to NOT_FOUND
		var b strings.Builder
		for i, r := range name {
			if i > 0 && r >= 'A' && r <= 'Z' {
				b.WriteByte('_')
			}
			b.WriteRune(r)
		}
		return strings.ToUpper(b.String())
	}
	for _, sdk := range []struct {
		name       string
		files      []string
		capability string // how an import of the one shape is written, %s its name
		own        string // how one of another shape is
		kind       func(name string, kind int) string
	}{
		{"go", []string{"../go/internal/raw/raw_wasip1.go", "../go/kind.go"}, "//go:wasmimport armature1 %s\n", "//go:wasmimport armature1 %s\n",
			func(name string, kind int) string {
				return fmt.Sprintf("Kind%s%s Kind = %d ", name, strings.Repeat(" ", 16-len(name)), kind)
			}},
		{"c", []string{"../c/armature.h"}, "\nAM_CAPABILITY(%s);", `AM_IMPORT("%s")`,
			func(name string, kind int) string { return fmt.Sprintf("AM_%s = %d", upper(name), kind) }},
		{"cpp", []string{"../cpp/armature.hpp"}, "\nARMATURE_CAPABILITY(%s);", `ARMATURE_IMPORT("%s")`,
			func(name string, kind int) string { return fmt.Sprintf("\n  %s = %d,", name, kind) }},
		{"rust", []string{"../rust/src/raw.rs", "../rust/src/kind.rs"}, "        pub fn %s(", "pub fn %s(",
			func(name string, kind int) string { return fmt.Sprintf("    %s = %d,", name, kind) }},
		{"zig", []string{"../zig/armature.zig"}, `extern "armature1" fn %s(in: `, `extern "armature1" fn %s(`,
			func(name string, kind int) string {
				return fmt.Sprintf("    %s = %d,", strings.ToLower(upper(name)), kind)
			}},
		{"assemblyscript", []string{"../assemblyscript/armature.ts"}, `@external("armature1", "%s")`, `@external("armature1", "%s")`,
			func(name string, kind int) string { return fmt.Sprintf(" %s = %d,", name, kind) }},
	} {
		t.Run(sdk.name, func(t *testing.T) {
			var source string
			for _, file := range sdk.files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				source += string(text)
			}
			v := load(t)
			has := func(form, name string) {
				if want := fmt.Sprintf(form, name); !strings.Contains(source, want) {
					t.Errorf("import %s: there is no %q", name, want)
				}
			}
			for _, i := range v.Imports {
				has(sdk.own, i.Name)
			}
			for _, c := range v.Capabilities {
				has(sdk.capability, c.Name)
			}
			for _, k := range v.Kinds {
				if want := sdk.kind(k.Name, k.Kind); !strings.Contains(source, want) {
					t.Errorf("kind %s: there is no %q", k.Name, want)
				}
			}
		})
	}
}
