package bundle_test

import (
	"fmt"

	"armature/plugins/bundle"
	"armature/runtime/wasmtest"
)

// A bundle is one file: a module that carries its manifest.
func ExampleEmbed() {
	module, err := wasmtest.Assemble(`(module (memory (export "memory") 1) (func (export "hello") (param i32)))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := bundle.Embed(module, []byte(`{
		"name": "acme.shop", "version": "1.2.0", "abi": 1,
		"methods": [{"path": "acme.shop.hello", "export": "hello"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := bundle.Parse(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Manifest.Name, b.Manifest.Version, b.Manifest.Methods[0].Path)
	// Output: acme.shop 1.2.0 acme.shop.hello
}
