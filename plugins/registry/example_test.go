package registry_test

import (
	"context"
	"fmt"

	"armature/core/method"
	"armature/plugins/manifest"
	"armature/plugins/registry"
)

// A site's methods are those of the generations that serve it. A call pins its own: a new
// version takes the next call, and the old one is closed when its last has ended.
func ExampleScope_Swap() {
	r := registry.New()
	site := r.Open(registry.Terms{Bind: func(g *registry.Generation) registry.Binding {
		run := func(context.Context, *method.Call) (any, error) { return "by version " + g.Manifest.Version, nil }
		return registry.Binding{Methods: []*method.Method{{Path: "acme.shop.hello", Func: run}}}
	}})
	defer site.Close()
	version := func(v string) *registry.Generation {
		return &registry.Generation{
			Manifest: &manifest.Manifest{Name: "acme.shop", Version: v, Methods: []manifest.Method{{Path: "acme.shop.hello"}}},
			Source:   "/plugins/shop.wasm",
			Close:    func() { fmt.Println("version", v, "is closed") },
		}
	}
	install := func(v string) {
		if err := r.Shared().Swap(version(v)); err != nil { // of the plugins for all sites
			fmt.Println(err)
		}
	}

	install("1")
	hello, pin, _ := site.Pin("acme.shop.hello")
	install("2")
	fmt.Println(hello.Func(context.Background(), nil)) // the call goes on with what it began with
	pin.Release()
	next, pin, _ := site.Pin("acme.shop.hello")
	fmt.Println(next.Func(context.Background(), nil))
	pin.Release()
	// Output:
	// by version 1 <nil>
	// version 1 is closed
	// by version 2 <nil>
}
