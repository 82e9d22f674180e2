package bundle

import (
	"errors"
	"fmt"
)

const exportID = 7

// Keeps checks that the module exports what its manifest names: what an author can
// be told without loading it. Loading looks at the rest.
func (b *Bundle) Keeps() error {
	names, err := exports(b.Module)
	if err != nil {
		return err
	}
	missing := func(name, claim string) error {
		return fmt.Errorf("the module does not export %s, which the manifest names for %s", name, claim)
	}
	for _, m := range b.Manifest.Methods {
		if !names[m.Export] {
			return missing(m.Export, "the method "+m.Path)
		}
	}
	for _, h := range b.Manifest.Handlers() {
		if !names[h.Export] {
			return missing(h.Export, fmt.Sprintf("the event %s.%s", h.DocType, h.Event))
		}
	}
	return nil
}

// exports are the names that a module exports.
func exports(wasm []byte) (map[string]bool, error) {
	var content []byte
	err := sections(wasm, func(s section) bool {
		if s.raw[0] == exportID {
			content = s.raw[1:]
		}
		return true
	})
	if err != nil || content == nil {
		return nil, err
	}
	names := map[string]bool{}
	number := func() int {
		if err != nil {
			return 0
		}
		v, n, e := length(content)
		content, err = content[n:], e
		return v
	}
	number() // the section's length, which sections has looked at
	for left := number(); left > 0 && err == nil; left-- {
		n := number()
		if err != nil || n >= len(content) {
			return nil, errors.New("not a valid WebAssembly module: an export's name is longer than the section")
		}
		names[string(content[:n])] = true
		content = content[n+1:] // and what kind it is
		number()
	}
	return names, err
}
