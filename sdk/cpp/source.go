// Package cpp carries the SDK for C++, so that the command line can build
// plugins where nothing but a compiler and the libraries are installed.
package cpp

import _ "embed"

// Header is armature.hpp.
//
//go:embed armature.hpp
var Header []byte

// Testing is armature_test.hpp, for the tests of plugins.
//
//go:embed armature_test.hpp
var Testing []byte
