package manifest

import (
	"slices"

	"armature/runtime/abi"
)

// Elevated is the grant of reaching documents without the caller's role checks.
// An administrator gives it by name; it is never a default.
const Elevated = "elevated"

// Grantable lists the imports that reach beyond the plugin: a manifest asks for
// each that its module imports.
func Grantable() []string {
	return slices.DeleteFunc(abi.Capabilities(), func(name string) bool { return slices.Contains(abi.Free(), name) })
}

// Asks reports whether the manifest asks for the import, or need not.
func (m *Manifest) Asks(imported string) bool {
	return slices.Contains(m.Grants, imported) || !slices.Contains(Grantable(), imported)
}
