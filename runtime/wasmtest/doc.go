// Package wasmtest holds guests that misbehave, as WebAssembly text, and a small
// assembler for them, so that the tests need no other tool than Go.
//
// The assembler understands what the guests use: functions with named
// parameters and locals, plain and folded instructions, imports of functions,
// one memory, tables, globals, element and data segments. It does not check
// types: the binary's first reader does.
package wasmtest

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed guests/*.wat
var guests embed.FS

// Module returns the binary of the guest of that name.
func Module(name string) ([]byte, error) {
	text, err := guests.ReadFile("guests/" + name + ".wat")
	if err != nil {
		return nil, err
	}
	binary, err := Assemble(string(text))
	if err != nil {
		return nil, fmt.Errorf("guest %s: %w", name, err)
	}
	return binary, nil
}

// Names lists the guests.
func Names() []string {
	files, err := fs.Glob(guests, "guests/*.wat")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "guests/"), ".wat")
	}
	return files
}
