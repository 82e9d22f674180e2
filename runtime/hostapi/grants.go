package hostapi

import (
	"slices"

	"armature/runtime/abi"
)

// Grants is a set of capabilities given to a plugin on a site.
type Grants uint64

// Elevated is the grant of document calls without the caller's role checks. No
// import stands for it: an administrator gives it by name.
const Elevated Grants = 1 << 63

// capabilities gives each capability its bit.
var capabilities = abi.Capabilities()

// Grant is the set of the named imports. Names that are no capabilities need no
// grant and have no bit.
func Grant(imports ...string) Grants {
	var g Grants
	for _, name := range imports {
		if i := slices.Index(capabilities, name); i >= 0 {
			g |= 1 << i
		}
	}
	return g
}

// Has reports whether all of other is in the set.
func (g Grants) Has(other Grants) bool { return g&other == other }
