// Package js carries the declarations for editors, which the command line puts
// beside a new script.
package js

import "embed"

// Source is the declarations, of what scripts find and of what their tests import,
// and tsconfig.json.
//
//go:embed armature.d.ts armature-test.d.ts tsconfig.json
var Source embed.FS
