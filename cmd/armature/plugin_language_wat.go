package main

import (
	"context"
	"fmt"
)

func buildText(ctx context.Context, w *workshop) error {
	compiler, err := tool("wat2wasm", "apt-get install wabt")
	if err != nil {
		return err
	}
	sources, err := w.sources("*.wat")
	if err != nil {
		return err
	}
	if len(sources) != 1 {
		return fmt.Errorf("there are %d .wat files: a module is made of one", len(sources))
	}
	return w.run(ctx, nil, compiler, sources[0], "-o", w.module)
}

func testText(ctx context.Context, w *workshop) error {
	if err := buildText(ctx, w); err != nil {
		return err
	}
	return testModule(ctx, w)
}
