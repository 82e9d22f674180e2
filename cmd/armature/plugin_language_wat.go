package main

import (
	"context"
	"fmt"
)

func buildText(ctx context.Context, w *workshop) error {
	sources, err := w.sources("*.wat")
	if err != nil {
		return err
	}
	if len(sources) != 1 {
		return fmt.Errorf("there are %d .wat files: a module is made of one", len(sources))
	}
	return compileText(ctx, w, sources[0])
}

// compileText makes a module of one file.
func compileText(ctx context.Context, w *workshop, file string) error {
	compiler, err := tool("wat2wasm", "apt-get install wabt")
	if err != nil {
		return err
	}
	args := []string{file, "-o", w.module}
	if w.kept != nil {
		args = append(args, "--debug-names")
	}
	return w.run(ctx, nil, compiler, args...)
}
