package scaffold

import (
	"bytes"
	"errors"
	"path/filepath"

	"armature/plugins/toolchain"
	"armature/sdk/assemblyscript"
	"armature/sdk/c"
	"armature/sdk/cpp"
	armature "armature/sdk/go"
	"armature/sdk/js"
	"armature/sdk/rust"
	"armature/sdk/zig"
)

// language is one that a new plugin can be written in.
type language struct {
	name  string                 // of its folder of templates
	needs string                 // the command that installs its compiler; empty: it is a script and needs none
	sdk   func(dir string) error // puts the SDK beside the sources
}

func languages() []language {
	declarations := func(dir string) error { return toolchain.Unpack(js.Source, ".", dir) }
	return []language{
		{"go", "apt-get install golang-go", func(dir string) error {
			return toolchain.Unpack(armature.Source, ".", filepath.Join(dir, "armature"))
		}},
		{"rust", "apt-get install rustc libstd-rust-dev-wasm32 lld", func(dir string) error {
			// A crate, so that Cargo can build the plugin, too.
			crate := bytes.Replace(rust.Manifest, []byte(`"src/lib.rs"`), []byte(`"lib.rs"`), 1)
			return errors.Join(toolchain.Unpack(rust.Source, "src", filepath.Join(dir, "armature")), writeInto(dir, map[string][]byte{"armature/Cargo.toml": crate}))
		}},
		{"assemblyscript", "npm install", func(dir string) error {
			return writeInto(dir, map[string][]byte{"armature/index.ts": assemblyscript.Source, "armature/testing.ts": assemblyscript.Testing})
		}},
		{"c", "apt-get install clang lld", func(dir string) error {
			return writeInto(dir, map[string][]byte{"armature.h": c.Header, "armature_test.h": c.Testing})
		}},
		{"cpp", toolchain.InstallCPP, func(dir string) error {
			return writeInto(dir, map[string][]byte{"armature.hpp": cpp.Header, "armature_test.hpp": cpp.Testing})
		}},
		{"zig", "npm install", func(dir string) error {
			return toolchain.Unpack(zig.Source, ".", filepath.Join(dir, "armature"))
		}},
		{"wat", "apt-get install wabt", func(string) error { return nil }}, // the contract is all there is
		{"js", "", declarations},
		{"ts", "", declarations},
	}
}
