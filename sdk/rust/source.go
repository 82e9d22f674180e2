// Package rust carries the SDK for Rust, so that the command line can build
// plugins where nothing but a compiler is installed.
package rust

import "embed"

// Source is the crate's sources, in the folder src.
//
//go:embed src
var Source embed.FS

// Manifest is Cargo.toml, for those who build a plugin by Cargo.
//
//go:embed Cargo.toml
var Manifest []byte
