package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"

	"armature/sdk/c"
)

const installClang = "apt-get install clang lld"

// guestFlags are how clang makes a module. Without a C library and with the
// instructions that copy memory: clang would otherwise call memcpy.
var guestFlags = []string{
	"--target=wasm32", "-O2", "-Wall", "-nostdlib", "-mbulk-memory", "-c",
}

func buildC(ctx context.Context, w *workshop) error {
	return buildClang(ctx, w, "clang", "*.c", "-std=gnu11")
}

// C++ without its library: exceptions and type information would need it.
func buildCPP(ctx context.Context, w *workshop) error {
	return buildClang(ctx, w, "clang++", "*.cpp", "-std=c++17", "-fno-exceptions", "-fno-rtti")
}

func buildClang(ctx context.Context, w *workshop, compiler, pattern string, flags ...string) error {
	clang, err := tool(compiler, installClang)
	if err != nil {
		return err
	}
	linker, err := tool("wasm-ld", installClang)
	if err != nil {
		return err
	}
	sources, err := w.sources(pattern)
	if err != nil {
		return err
	}
	include, err := w.header()
	if err != nil {
		return err
	}
	// clang would link by itself, and then run whatever wasm-opt it finds, which
	// may know less of WebAssembly than it does.
	link := []string{"--no-entry", "--strip-all", "-o", w.module}
	for i, source := range sources {
		object := filepath.Join(w.tmp, strconv.Itoa(i)+".o")
		args := append(append(slices.Clone(flags), guestFlags...), include...)
		if err := w.run(ctx, nil, clang, append(args, "-o", object, source)...); err != nil {
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
	_, err := w.write("stubhost.h", c.Stub)
	return []string{"-I", w.tmp}, err
}

// testC builds and runs each *_test.c and *_test.cpp as a native program.
func testC(ctx context.Context, w *workshop) error {
	include, err := w.header()
	if err != nil {
		return err
	}
	clang, err := tool("clang", installClang+" libc6-dev")
	if err != nil {
		return err
	}
	tested := false
	for _, kind := range []struct{ pattern, language, standard string }{
		{"*_test.c", "c", "-std=gnu11"}, {"*_test.cpp", "c++", "-std=c++17"},
	} {
		files, err := filepath.Glob(filepath.Join(w.dir, kind.pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			tested = true
			program := filepath.Join(w.tmp, filepath.Base(file)+".test")
			// C++ by the C driver: its library is not there in the module either.
			args := append([]string{kind.standard, "-Wall", "-g", "-x", kind.language}, include...)
			if err := w.run(ctx, nil, clang, append(args, "-o", program, filepath.Base(file))...); err != nil {
				return err
			}
			if err := w.run(ctx, nil, program); err != nil {
				return err
			}
		}
	}
	if !tested {
		return errors.New("there is no *_test.c or *_test.cpp")
	}
	return nil
}

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
		return errors.New("there is more than one .wat file: a module is made of one")
	}
	return w.run(ctx, nil, compiler, sources[0], "-o", w.module)
}
