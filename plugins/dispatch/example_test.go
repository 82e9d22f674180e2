package dispatch_test

import (
	"context"
	"fmt"

	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/registry"
	"armature/runtime/wasmtest"
)

// A site is opened on the registry; from then on it has the methods of what is loaded,
// as methods of core/method, and it can be told what a plugin asks for.
func ExampleOpen() {
	ctx := context.Background()
	r := registry.New()
	site := dispatch.Open(r, dispatch.Config{Site: "shop.example.org"})
	defer site.Close()

	e, err := eng() // an engine.Engine
	if err != nil {
		fmt.Println(err)
		return
	}
	sources := loader.New(loader.Config{Engine: e}).Open(r.Shared(), "")
	err = sources.LoadFrom(ctx, "/plugins/shop.wasm", func() (*bundle.Bundle, error) {
		module, err := wasmtest.Assemble(`(module (memory (export "memory") 1) (func (export "hello") (param i32)))`)
		if err == nil {
			module, err = bundle.Embed(module, []byte(`{"name": "acme.shop", "version": "1", "abi": 1,
				"grants": ["resource:ToDo:read"], "methods": [{"path": "acme.shop.hello", "export": "hello"}]}`))
		}
		if err != nil {
			return nil, err
		}
		return bundle.Parse(module)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range site.Methods() {
		fmt.Println(m.Path)
	}
	g := sources.Generation("/plugins/shop.wasm")
	fmt.Println(dispatch.Asked(g, g.Manifest.Limits))
	// Output:
	// acme.shop.hello
	// [resource:ToDo:read]
}
