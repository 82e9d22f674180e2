// Package c carries the SDK for C, so that the command line can build plugins
// where nothing but a compiler is installed.
package c

import _ "embed"

// Header is armature.h.
//
//go:embed armature.h
var Header []byte

// Testing is armature_test.h, for the tests of plugins.
//
//go:embed armature_test.h
var Testing []byte
