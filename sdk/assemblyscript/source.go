// Package assemblyscript carries the SDK for AssemblyScript, so that the command
// line can build plugins where nothing but the compiler is installed.
package assemblyscript

import _ "embed"

// Source is armature.ts.
//
//go:embed armature.ts
var Source []byte

// Stub is stubhost.mjs, the host of tests that run a module with node.
//
//go:embed stubhost.mjs
var Stub []byte
