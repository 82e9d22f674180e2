package toolchain

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

// InstallCPP is what C++ plugins need: beside clang its library for WASI, and
// nlohmann/json.
const InstallCPP = "apt-get install clang lld libc++-dev-wasm32 libclang-rt-dev-wasm32 nlohmann-json3-dev"

// cppTarget is WebAssembly with the C++ library, which wants a few functions of WASI.
const cppTarget = "--target=wasm32-wasi"

type cppLanguage struct{}

func (cppLanguage) name() string    { return "C++" }
func (cppLanguage) marks() []string { return []string{"*.cpp"} }

// build compiles without exceptions, which clang's library for WebAssembly does not
// have.
func (cppLanguage) build(ctx context.Context, j *job) error {
	sources, err := j.sources("*.cpp")
	if err != nil {
		return err
	}
	return j.cpp(ctx, sources)
}

func (cppLanguage) test(ctx context.Context, j *job, b Bench) error {
	return testModules(ctx, j, b, "*_test.cpp", compileCPP)
}

// compileCPP makes a module of one file: of tests.
func compileCPP(ctx context.Context, j *job, file string) error {
	return j.cpp(ctx, []string{file})
}

func (j *job) cpp(ctx context.Context, sources []string) error {
	clang, err := clangCPP()
	if err != nil {
		return err
	}
	include, err := j.headerCPP()
	if err != nil {
		return err
	}
	// Without -O the driver does not run whatever wasm-opt it finds, which may
	// know less of WebAssembly than it does. The stack comes first: one that is
	// used up is a trap and overwrites nothing.
	flags := append([]string{cppTarget, "-std=c++20", "-Wall", "-fno-exceptions", "-fno-rtti", "-c"}, include...)
	link := []string{cppTarget, "-mexec-model=reactor", "-Wl,--stack-first,-z,stack-size=131072", "-o", j.module}
	if j.cache != nil {
		// Optimising costs more than all the rest.
		flags = append(flags, "-O0", "-gline-tables-only", "-fpch-instantiate-templates")
		compiled, err := j.compiledHeader(ctx, clang, flags)
		if err != nil {
			return errors.Join(err, j.missingCPP(ctx, clang))
		}
		flags = append(flags, "-include-pch", compiled)
	} else {
		flags, link = append(flags, "-O2"), append(link, "-Wl,--strip-all")
	}
	for i, source := range sources {
		object := filepath.Join(j.tmp, strconv.Itoa(i)+".o")
		if err := j.run(ctx, nil, clang, append(slices.Clone(flags), "-o", object, source)...); err != nil {
			return errors.Join(err, j.missingCPP(ctx, clang))
		}
		link = append(link, object)
	}
	if err := j.run(ctx, nil, clang, link...); err != nil {
		return errors.Join(err, j.missingCPP(ctx, clang))
	}
	return nil
}

// compiledHeader compiles the SDK once for all builds: with the library that it
// includes it takes longer than the plugin does.
func (j *job) compiledHeader(ctx context.Context, clang string, flags []string) (string, error) {
	header := filepath.Join(j.dir, "armature.hpp")
	if _, err := os.Stat(header); err != nil {
		header = filepath.Join(j.tmp, "armature.hpp")
	}
	compiled := filepath.Join(j.tmp, "armature.pch")
	state, err := stateOf(header)
	if err != nil || j.cache.made(compiled, state) {
		return compiled, err
	}
	if err := j.run(ctx, nil, clang, append(slices.Clone(flags), "-Xclang", "-fno-pch-timestamp", "-x", "c++-header", "-o", compiled, header)...); err != nil {
		return "", err
	}
	j.cache.note(compiled, state)
	return compiled, nil
}

func clangCPP() (string, error) {
	clang, err := tool("clang++", InstallCPP)
	if err == nil {
		_, err = tool("wasm-ld", InstallCPP)
	}
	return clang, err
}

// missingCPP names the first of the libraries that is not there, once a build has
// failed.
func (j *job) missingCPP(ctx context.Context, clang string) error {
	args := []string{cppTarget, "-std=c++20", "-fno-exceptions", "-E", "-o", os.DevNull, "-x", "c++", "-"}
	for _, library := range []struct{ name, source string }{
		{"the C++ library", "#include <vector>"}, {"nlohmann/json", "#include <nlohmann/json_fwd.hpp>"},
	} {
		cmd := j.command(ctx, clang, args...)
		cmd.Stdin, cmd.Stderr = strings.NewReader(library.source), io.Discard
		if cmd.Run() != nil {
			return fmt.Errorf("%s is missing; install it, on Debian with: %s", library.name, InstallCPP)
		}
	}
	out, err := j.command(ctx, clang, cppTarget, "-print-libgcc-file-name").Output()
	if _, serr := os.Stat(strings.TrimSpace(string(out))); err == nil && serr != nil {
		return fmt.Errorf("clang's runtime library is missing; install it, on Debian with: %s", InstallCPP)
	}
	return nil
}

// headerCPP is where the compiler finds the SDK: beside the sources if it is
// there, otherwise the one this program carries.
func (j *job) headerCPP() ([]string, error) {
	if _, err := j.write("armature.hpp", cpp.Header); err != nil {
		return nil, err
	}
	_, err := j.write("armature_test.hpp", cpp.Testing)
	return []string{"-I", j.tmp}, err
}
