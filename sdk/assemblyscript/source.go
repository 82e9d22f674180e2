// Package assemblyscript carries the SDK for AssemblyScript, so that the command
// line can build plugins where nothing but the compiler is installed.
package assemblyscript

import _ "embed"

// Source is armature.ts.
//
//go:embed armature.ts
var Source []byte

// Testing is testing.ts, for the tests of plugins.
//
//go:embed testing.ts
var Testing []byte
