package loader

import (
	"fmt"

	"armature/core/fault"
	"armature/plugins/manifest"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// claims compares a module with its manifest: it imports nothing that the
// manifest does not ask for, and exports what the manifest lists.
func claims(m *manifest.Manifest, module *engine.Module) error {
	for _, im := range module.Imports() {
		if im.Module == abi.Module && !m.Asks(im.Name) {
			return fault.Invalid("", "The module imports %s, which the manifest does not ask for: add it to grants", im.Name)
		}
	}
	for _, x := range m.Methods {
		if err := exported(module, x.Export, "the method "+x.Path); err != nil {
			return err
		}
	}
	for _, h := range m.Handlers() {
		if err := exported(module, h.Export, fmt.Sprintf("the event %s.%s", h.DocType, h.Event)); err != nil {
			return err
		}
	}
	return nil
}

// exported checks that the module has the function and that it takes one i32,
// the length of the input, and returns nothing.
func exported(module *engine.Module, name, claim string) error {
	x, ok := module.Export(name)
	switch {
	case !ok:
		return fault.Invalid("", "The module does not export %s, which the manifest names for %s", name, claim)
	case len(x.Params) != 1 || x.Params[0] != engine.I32 || len(x.Results) != 0:
		return fault.Invalid("", "The export %s takes %v and returns %v; %s needs a function that takes one i32 and returns nothing",
			name, x.Params, x.Results, claim)
	}
	return nil
}
