// Package c carries the SDK for C, so that the command line can build plugins
// where nothing but a compiler is installed.
package c

import _ "embed"

// Header is armature.h.
//
//go:embed armature.h
var Header []byte

// Stub is stubhost.h, with which methods are tested as a native program.
//
//go:embed stubhost.h
var Stub []byte
