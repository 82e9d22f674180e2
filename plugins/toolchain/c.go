package toolchain

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"armature/sdk/c"
)

// installClang is how the compiler of C plugins is installed.
const installClang = "apt-get install clang lld"

// guestFlags are how clang makes a module. Without a C library and with the
// instructions that copy memory: clang would otherwise call memcpy.
var guestFlags = []string{"--target=wasm32", "-std=gnu11", "-Wall", "-nostdlib", "-mbulk-memory", "-c"}

type cLanguage struct{}

func (cLanguage) name() string    { return "C" }
func (cLanguage) marks() []string { return []string{"*.c"} }

func (cLanguage) build(ctx context.Context, j *job) error {
	sources, err := j.sources("*.c")
	if err != nil {
		return err
	}
	return j.c(ctx, sources)
}

func (cLanguage) test(ctx context.Context, j *job, b Bench) error {
	return testModules(ctx, j, b, "*_test.c", compileC)
}

// compileC makes a module of one file: of tests.
func compileC(ctx context.Context, j *job, file string) error { return j.c(ctx, []string{file}) }

func (j *job) c(ctx context.Context, sources []string) error {
	clang, err := tool("clang", installClang)
	if err != nil {
		return err
	}
	linker, err := tool("wasm-ld", installClang)
	if err != nil {
		return err
	}
	include, err := j.header()
	if err != nil {
		return err
	}
	// clang would link by itself, and then run whatever wasm-opt it finds, which
	// may know less of WebAssembly than it does.
	flags, link := append(slices.Clone(guestFlags), include...), []string{"--no-entry", "-o", j.module}
	if j.cache != nil {
		flags = append(flags, "-O1", "-g")
	} else {
		flags, link = append(flags, "-O2"), append(link, "--strip-all")
	}
	for i, source := range sources {
		object := filepath.Join(j.tmp, strconv.Itoa(i)+".o")
		if err := j.run(ctx, nil, clang, append(slices.Clone(flags), "-o", object, source)...); err != nil {
			return err
		}
		link = append(link, object)
	}
	return j.run(ctx, nil, linker, link...)
}

// header is where the compiler finds the SDK: beside the sources if it is there,
// otherwise the one this program carries.
func (j *job) header() ([]string, error) {
	if _, err := j.write("armature.h", c.Header); err != nil {
		return nil, err
	}
	_, err := j.write("armature_test.h", c.Testing)
	return []string{"-I", j.tmp}, err
}
