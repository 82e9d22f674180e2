package loader_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"armature/plugins/bundle"
	"armature/plugins/loader"
	"armature/plugins/registry"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
	"armature/runtime/wasmtest"
)

// A file is loaded into a scope: here that of the plugins for all sites. One that cannot
// be loaded leaves the version before it serving, and its state says why.
func ExampleSources_Load() {
	ctx := context.Background()
	eng, err := engine.New(ctx, engine.Config{Imports: hostapi.Imports(hostapi.Config{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close(ctx)
	sources := loader.New(loader.Config{Engine: eng}).Open(registry.New().Shared(), "")

	dir, err := os.MkdirTemp("", "plugins")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "shop.wasm")
	save := func(export string) {
		module, err := wasmtest.Assemble(`(module (memory (export "memory") 1) (func (export "` + export + `") (param i32)))`)
		if err == nil {
			module, err = bundle.Embed(module, []byte(`{
				"name": "acme.shop", "version": "1", "abi": 1, "methods": [{"path": "acme.shop.hello", "export": "hello"}]}`))
		}
		if err == nil {
			err = os.WriteFile(file, module, 0o600)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	for _, export := range []string{"hello", "hallo"} {
		save(export)
		err := sources.Load(ctx, file)
		st := sources.States()[0]
		fmt.Println(st.Name, st.Version, st.Status, st.Methods, err != nil)
	}
	// Output:
	// acme.shop 1 serving [acme.shop.hello] false
	// acme.shop 1 serving [acme.shop.hello] true
}
