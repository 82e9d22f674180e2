// Package zig carries the SDK for Zig, so that the command line can build
// plugins where nothing but a compiler is installed.
package zig

import "embed"

// Source is the module armature.
//
//go:embed armature.zig testing.zig
var Source embed.FS
