package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"armature/sdk/c"
)

const installClang = "apt-get install clang lld"

// guestFlags are how clang makes a module. Without a C library and with the
// instructions that copy memory: clang would otherwise call memcpy.
var guestFlags = []string{"--target=wasm32", "-std=gnu11", "-Wall", "-nostdlib", "-mbulk-memory", "-c"}

func buildC(ctx context.Context, w *workshop) error {
	sources, err := w.sources("*.c")
	if err != nil {
		return err
	}
	return w.c(ctx, sources)
}

// compileC makes a module of one file: of tests.
func compileC(ctx context.Context, w *workshop, file string) error { return w.c(ctx, []string{file}) }

func (w *workshop) c(ctx context.Context, sources []string) error {
	clang, err := tool("clang", installClang)
	if err != nil {
		return err
	}
	linker, err := tool("wasm-ld", installClang)
	if err != nil {
		return err
	}
	include, err := w.header()
	if err != nil {
		return err
	}
	// clang would link by itself, and then run whatever wasm-opt it finds, which
	// may know less of WebAssembly than it does.
	flags, link := append(slices.Clone(guestFlags), include...), []string{"--no-entry", "-o", w.module}
	if w.kept != nil {
		flags = append(flags, "-O1", "-g")
	} else {
		flags, link = append(flags, "-O2"), append(link, "--strip-all")
	}
	for i, source := range sources {
		object := filepath.Join(w.tmp, strconv.Itoa(i)+".o")
		if err := w.run(ctx, nil, clang, append(slices.Clone(flags), "-o", object, source)...); err != nil {
			return err
		}
		link = append(link, object)
	}
	return w.run(ctx, nil, linker, link...)
}

// header is where the compiler finds the SDK: beside the sources if it is there,
// otherwise the one this program carries.
func (w *workshop) header() ([]string, error) {
	if _, err := w.write("armature.h", c.Header); err != nil {
		return nil, err
	}
	_, err := w.write("armature_test.h", c.Testing)
	return []string{"-I", w.tmp}, err
}
