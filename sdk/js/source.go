// Package js carries the declarations for editors, which the command line puts
// beside a new script.
package js

import "embed"

// Source is armature.d.ts and tsconfig.json.
//
//go:embed armature.d.ts tsconfig.json
var Source embed.FS
