// Package cpp carries the SDK for C++, so that the command line can build
// plugins where nothing but a compiler and the libraries are installed.
package cpp

import _ "embed"

// Header is armature.hpp.
//
//go:embed armature.hpp
var Header []byte

// Stub is stubhost.hpp, with which methods are tested as a native program.
//
//go:embed stubhost.hpp
var Stub []byte
