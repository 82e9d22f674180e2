package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"armature/sdk/cpp"
)

// installCPP is what C++ plugins need: beside clang its library for WASI, and
// nlohmann/json.
const installCPP = "apt-get install clang lld libc++-dev-wasm32 libclang-rt-dev-wasm32 nlohmann-json3-dev"

// cppTarget is WebAssembly with the C++ library, which wants a few functions of WASI.
const cppTarget = "--target=wasm32-wasi"

// buildCPP compiles without exceptions, which clang's library for WebAssembly
// does not have.
func buildCPP(ctx context.Context, w *workshop) error {
	sources, err := w.sources("*.cpp")
	if err != nil {
		return err
	}
	return w.cpp(ctx, sources)
}

// compileCPP makes a module of one file: of tests.
func compileCPP(ctx context.Context, w *workshop, file string) error {
	return w.cpp(ctx, []string{file})
}

func (w *workshop) cpp(ctx context.Context, sources []string) error {
	clang, err := clangCPP()
	if err != nil {
		return err
	}
	include, err := w.headerCPP()
	if err != nil {
		return err
	}
	// Without -O the driver does not run whatever wasm-opt it finds, which may
	// know less of WebAssembly than it does. The stack comes first: one that is
	// used up is a trap and overwrites nothing.
	flags := append([]string{cppTarget, "-std=c++20", "-Wall", "-fno-exceptions", "-fno-rtti", "-c"}, include...)
	link := []string{cppTarget, "-mexec-model=reactor", "-Wl,--stack-first,-z,stack-size=131072", "-o", w.module}
	if w.kept != nil {
		// Optimising costs more than all the rest.
		flags = append(flags, "-O0", "-gline-tables-only", "-fpch-instantiate-templates")
		compiled, err := w.compiledHeader(ctx, clang, flags)
		if err != nil {
			return errors.Join(err, missingCPP(ctx, clang, cppTarget))
		}
		flags = append(flags, "-include-pch", compiled)
	} else {
		flags, link = append(flags, "-O2"), append(link, "-Wl,--strip-all")
	}
	for i, source := range sources {
		object := filepath.Join(w.tmp, strconv.Itoa(i)+".o")
		if err := w.run(ctx, nil, clang, append(slices.Clone(flags), "-o", object, source)...); err != nil {
			return errors.Join(err, missingCPP(ctx, clang, cppTarget))
		}
		link = append(link, object)
	}
	if err := w.run(ctx, nil, clang, link...); err != nil {
		return errors.Join(err, missingCPP(ctx, clang, cppTarget))
	}
	return nil
}

// compiledHeader compiles the SDK once for all builds: with the library that it
// includes it takes longer than the plugin does.
func (w *workshop) compiledHeader(ctx context.Context, clang string, flags []string) (string, error) {
	header := filepath.Join(w.dir, "armature.hpp")
	if _, err := os.Stat(header); err != nil {
		header = filepath.Join(w.tmp, "armature.hpp")
	}
	compiled := filepath.Join(w.tmp, "armature.pch")
	state, err := stateOf(header)
	if err != nil || w.kept.made(compiled, state) {
		return compiled, err
	}
	if err := w.run(ctx, nil, clang, append(slices.Clone(flags), "-Xclang", "-fno-pch-timestamp", "-x", "c++-header", "-o", compiled, header)...); err != nil {
		return "", err
	}
	w.kept.make(compiled, state)
	return compiled, nil
}

func clangCPP() (string, error) {
	clang, err := tool("clang++", installCPP)
	if err == nil {
		_, err = tool("wasm-ld", installCPP)
	}
	return clang, err
}

// missingCPP names the first of the libraries that is not there, once a build has
// failed.
func missingCPP(ctx context.Context, clang string, target ...string) error {
	args := append([]string{"-std=c++20", "-fno-exceptions", "-E", "-o", os.DevNull, "-x", "c++", "-"}, target...)
	for _, library := range []struct{ name, source string }{
		{"the C++ library", "#include <vector>"}, {"nlohmann/json", "#include <nlohmann/json_fwd.hpp>"},
	} {
		cmd := command(ctx, clang, args...)
		cmd.Stdin, cmd.Stderr = strings.NewReader(library.source), io.Discard
		if cmd.Run() != nil {
			return fmt.Errorf("%s is missing; install it, on Debian with: %s", library.name, installCPP)
		}
	}
	out, err := command(ctx, clang, append(target, "-print-libgcc-file-name")...).Output()
	if _, serr := os.Stat(strings.TrimSpace(string(out))); err == nil && len(target) > 0 && serr != nil {
		return fmt.Errorf("clang's runtime library is missing; install it, on Debian with: %s", installCPP)
	}
	return nil
}

// headerCPP is where the compiler finds the SDK: beside the sources if it is
// there, otherwise the one this program carries.
func (w *workshop) headerCPP() ([]string, error) {
	if _, err := w.write("armature.hpp", cpp.Header); err != nil {
		return nil, err
	}
	_, err := w.write("armature_test.hpp", cpp.Testing)
	return []string{"-I", w.tmp}, err
}
