package loader

import (
	"fmt"

	"armature/core/fault"
	"armature/plugins/manifest"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Claims compares a module with its manifest: it imports nothing that the
// manifest does not ask for, has a memory, and exports what the manifest lists.
func Claims(m *manifest.Manifest, module *engine.Module) error {
	for _, im := range module.Imports() {
		capabilities, optional := abi.Uses(im.Module, im.Name)
		for _, c := range capabilities {
			if !optional && !m.Asks(c) {
				return fault.Invalid("", "The module imports %s, which the manifest does not ask for: add %s to grants", im.Name, c)
			}
		}
	}
	if module.Dialect() != abi.Extism && !module.HasMemory() {
		return fault.Invalid("", "The module has no memory; a plugin has to have one, exported as %s", abi.Memory)
	}
	for _, x := range m.Methods {
		if err := exported(module, x.Export, "the method "+x.Path); err != nil {
			return err
		}
		if x.Input != "" && module.Dialect() != abi.Extism {
			return fault.Invalid("", "The method %s names %s as its input; only a module built for Extism takes anything but the arguments", x.Path, x.Input)
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
// the length of the input, and returns nothing; or, in a module built for Extism,
// that it takes nothing and returns an i32 or nothing.
func exported(module *engine.Module, name, claim string) error {
	x, ok := module.Export(name)
	switch {
	case !ok:
		return fault.Invalid("", "The module does not export %s, which the manifest names for %s", name, claim)
	case module.Dialect() == abi.Extism:
		if len(x.Params) > 0 || len(x.Results) > 1 || len(x.Results) == 1 && x.Results[0] != engine.I32 {
			return fault.Invalid("", "The export %s takes %v and returns %v; in a module built for Extism %s needs a function that takes nothing and returns an i32",
				name, x.Params, x.Results, claim)
		}
	case len(x.Params) != 1 || x.Params[0] != engine.I32 || len(x.Results) != 0:
		return fault.Invalid("", "The export %s takes %v and returns %v; %s needs a function that takes one i32 and returns nothing",
			name, x.Params, x.Results, claim)
	}
	return nil
}
