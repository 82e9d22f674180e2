package toolchain

import (
	"context"
	"fmt"
)

type watLanguage struct{}

func (watLanguage) name() string    { return "WebAssembly text" }
func (watLanguage) marks() []string { return []string{"*.wat"} }

func (watLanguage) build(ctx context.Context, j *job) error {
	sources, err := j.sources("*.wat")
	if err != nil {
		return err
	}
	if len(sources) != 1 {
		return fmt.Errorf("there are %d .wat files: a module is made of one", len(sources))
	}
	return compileWAT(ctx, j, sources[0])
}

func (watLanguage) test(ctx context.Context, j *job, b Bench) error {
	return testModules(ctx, j, b, "*_test.wat", compileWAT)
}

// compileWAT makes a module of one file.
func compileWAT(ctx context.Context, j *job, file string) error {
	compiler, err := tool("wat2wasm", "apt-get install wabt")
	if err != nil {
		return err
	}
	args := []string{file, "-o", j.module}
	if j.cache != nil {
		args = append(args, "--debug-names")
	}
	return j.run(ctx, nil, compiler, args...)
}
