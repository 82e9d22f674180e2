package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"armature/plugins/testrun"
	"armature/sdk/rust"
)

// rustTarget is bare WebAssembly: no WASI, nothing imported but what is used.
const rustTarget = "wasm32-unknown-unknown"

// rustc finds a compiler that has the standard library of the target. Several
// may be installed, and the first on the path need not be the one.
func (j *job) rustc(ctx context.Context, target string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found, err := exec.LookPath(filepath.Join(dir, "rustc"))
		if err != nil || !filepath.IsAbs(found) {
			continue
		}
		out, err := j.command(ctx, found, "--print", "target-libdir", "--target", target).Output()
		if err != nil {
			continue
		}
		if libs, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libstd-*.rlib")); err == nil && len(libs) > 0 {
			return found, nil
		}
	}
	return "", errors.New("rustc with " + rustTarget + " is missing; install it, on Debian with: apt-get install rustc libstd-rust-dev-wasm32 lld, elsewhere with: rustup target add " + rustTarget)
}

// rustLibrary compiles the SDK for a target; empty is the machine's own.
func (j *job) rustLibrary(ctx context.Context, compiler string, flags []string) (string, error) {
	source := filepath.Join(j.dir, "armature")
	if _, err := os.Stat(filepath.Join(source, "lib.rs")); err != nil {
		source = filepath.Join(j.tmp, "armature")
		if err := Unpack(rust.Source, "src", source); err != nil {
			return "", err
		}
	}
	library := filepath.Join(j.tmp, "libarmature.rlib")
	state, err := stateOf(source)
	if err != nil {
		return "", err
	}
	if j.cache.made(library, state) {
		return library, nil
	}
	args := append([]string{
		"--edition", "2021", "--crate-type", "rlib", "--crate-name", "armature", "-o", library,
		"--remap-path-prefix", source + "=armature", // what panics say of a place is the same wherever it is built
	}, flags...)
	if err := j.run(ctx, nil, compiler, append(args, filepath.Join(source, "lib.rs"))...); err != nil {
		return "", err
	}
	j.cache.note(library, state)
	return library, nil
}

type rustLanguage struct{}

func (rustLanguage) name() string    { return "Rust" }
func (rustLanguage) marks() []string { return []string{"src/lib.rs"} }

func (rustLanguage) build(ctx context.Context, j *job) error {
	compiler, err := j.cache.find(rustTarget, func() (string, error) { return j.rustc(ctx, rustTarget) })
	if err != nil {
		return err
	}
	flags := []string{"--target", rustTarget, "-C", "panic=abort"}
	var last []string // of the plugin alone
	if j.cache != nil {
		flags = append(flags, "-C", "opt-level=1", "-C", "debuginfo=1")
	} else {
		flags, last = append(flags, "-C", "opt-level=s"), []string{"-C", "lto", "-C", "strip=symbols"}
	}
	library, err := j.rustLibrary(ctx, compiler, flags)
	if err != nil {
		return err
	}
	args := append([]string{
		"--edition", "2021", "--crate-type", "cdylib", "--crate-name", "plugin", "--extern", "armature=" + library, "-o", j.module,
		// A small stack, and memory enough from the start: growing it copies it.
		"-C", "link-arg=-zstack-size=65536", "-C", "link-arg=--initial-memory=393216",
	}, flags...)
	if linker, err := exec.LookPath("wasm-ld"); err == nil {
		args = append(args, "-C", "linker="+linker)
	}
	args = append(args, last...)
	err = j.run(ctx, nil, compiler, append(args, filepath.Join("src", "lib.rs"))...)
	if _, lerr := exec.LookPath("wasm-ld"); err != nil && lerr != nil {
		err = fmt.Errorf("%w\nhint: if the linker is missing, install it, on Debian with: apt-get install lld", err)
	}
	return err
}

// rustTestTargets are the names of WebAssembly with a system, which Rust's own tests
// need. Rust has renamed it.
var rustTestTargets = []string{"wasm32-wasip1", "wasm32-wasi"}

// test runs the tests in the sources as WebAssembly, on real sites.
func (rustLanguage) test(ctx context.Context, j *job, b Bench) error {
	compiler, target, err := j.rustcForTests(ctx)
	if err != nil {
		return err
	}
	if err := b.Open(ctx); err != nil {
		return err
	}
	tests := *j
	tests.tmp = filepath.Join(j.tmp, "tests") // another library for another target
	if err := os.MkdirAll(tests.tmp, 0o700); err != nil {
		return err
	}
	flags := []string{"--target", target, "-C", "opt-level=1", "-C", "debuginfo=1"}
	library, err := tests.rustLibrary(ctx, compiler, flags)
	if err != nil {
		return err
	}
	program := filepath.Join(tests.tmp, "plugin.test.wasm")
	args := append([]string{"--edition", "2021", "--test", "--crate-name", "plugin", "--extern", "armature=" + library, "-o", program}, flags...)
	if linker, err := exec.LookPath("wasm-ld"); err == nil {
		args = append(args, "-C", "linker="+linker)
	}
	if err := j.run(ctx, nil, compiler, append(args, filepath.Join("src", "lib.rs"))...); err != nil {
		return err
	}
	return libtest(ctx, j.dir, program, b)
}

// libtest runs the tests of a program of Rust's, each by itself: WebAssembly cannot
// unwind, so one that fails is the end of the program.
func libtest(ctx context.Context, dir, program string, b Bench) error {
	var listed bytes.Buffer
	if err := b.Program(ctx, dir, program, []string{"--list", "--format", "terse"}, &listed, io.Discard); err != nil {
		return err
	}
	for line := range strings.Lines(listed.String()) {
		name, ok := strings.CutSuffix(strings.TrimSpace(line), ": test")
		if !ok {
			continue
		}
		began := time.Now()
		var said, ignored bytes.Buffer
		err := b.Program(ctx, dir, program, []string{"--exact", name, "--nocapture"}, &ignored, &said)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result := testrun.Result{File: filepath.Join("src", "lib.rs"), Test: name, Took: time.Since(began)}
		result.Skipped = strings.Contains(ignored.String(), name+" ... ignored")
		if err != nil {
			if result.Error = strings.TrimSpace(said.String()); result.Error == "" {
				result.Error = err.Error()
			}
			result.Error, _, _ = strings.Cut(result.Error, "\nnote: run with")
		}
		b.Tell(result)
	}
	return nil
}

// rustcForTests finds a compiler with the library of a target that has a system.
func (j *job) rustcForTests(ctx context.Context) (compiler, target string, err error) {
	for _, target = range rustTestTargets {
		compiler, err = j.cache.find(target, func() (string, error) { return j.rustc(ctx, target) })
		if err == nil {
			return compiler, target, nil
		}
	}
	return "", "", errors.New("rustc with a target that has WASI is missing; install it, on Debian with: apt-get install rustc libstd-rust-dev-wasm32 lld, elsewhere with: rustup target add " + rustTestTargets[0])
}
