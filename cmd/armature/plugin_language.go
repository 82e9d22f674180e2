package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/plugins/testrun"
)

// workshop is where one plugin is built or tested.
type workshop struct {
	dir    string // its sources
	tmp    string // for what is made on the way
	module string // the file to make
	out    io.Writer
	kept   *kept // of a plugin that is built again and again; nil: it is built once, to be installed
}

// language is one that plugins are written in.
type language struct {
	name  string
	marks []string // patterns of files in the plugin's folder that tell the language
	build func(ctx context.Context, w *workshop) error

	// Files with tests match the pattern tests. Each becomes a module by compile; or
	// a language has tests of its own, which run runs.
	tests   string
	compile func(ctx context.Context, w *workshop, file string) error
	run     func(ctx context.Context, w *workshop, open func() (*bench, error), tell func(testrun.Result)) error
}

// languages in the order in which their files are looked for.
func languages() []language {
	return []language{
		{name: "Go", marks: []string{"go.mod"}, build: buildGo, run: testGo},
		{name: "Rust", marks: []string{"src/lib.rs"}, build: buildRust, run: testRust},
		{
			name: "AssemblyScript", marks: []string{"assembly/plugin.ts"}, build: buildAssemblyScript,
			tests: "assembly/*_test.ts", compile: compileAssemblyScript,
		},
		{name: "C++", marks: []string{"*.cpp"}, build: buildCPP, tests: "*_test.cpp", compile: compileCPP},
		{name: "C", marks: []string{"*.c"}, build: buildC, tests: "*_test.c", compile: compileC},
		{name: "Zig", marks: []string{"plugin.zig"}, build: buildZig, tests: "*_test.zig", compile: compileZig},
		{name: "WebAssembly text", marks: []string{"*.wat"}, build: buildText, tests: "*_test.wat", compile: compileText},
	}
}

// languageOf tells a plugin's language by its files.
func languageOf(dir string) (language, error) {
	var looked []string
	for _, l := range languages() {
		for _, pattern := range l.marks {
			if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
				return l, nil
			}
			looked = append(looked, fmt.Sprintf("%s (%s)", pattern, l.name))
		}
	}
	looked = append(looked, "main.js or main.ts (scripts)")
	return language{}, fmt.Errorf("there is none of %s; what another tool has built is given with --module", strings.Join(looked, ", "))
}

// sources are the plugin's files of a pattern, without tests.
func (w *workshop) sources(pattern string) (names []string, err error) {
	found, err := filepath.Glob(filepath.Join(w.dir, pattern))
	for _, path := range found {
		name := filepath.Base(path)
		if !strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), "_test") {
			names = append(names, name)
		}
	}
	return names, err
}

// command is a tool that is not told our settings: among them are an API key, the
// master key and a database's password, and what a tool runs, such as a plugin's
// tests and what those import, has no business with them.
func command(ctx context.Context, tool string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, envPrefix) })
	return cmd
}

// toolDelay is how long a tool that was called off may hold on to its output.
const toolDelay = 2 * time.Second

// run runs a tool in the plugin's folder; what it prints is shown.
func (w *workshop) run(ctx context.Context, env []string, tool string, args ...string) error {
	cmd := command(ctx, tool, args...)
	whole(cmd)
	cmd.WaitDelay = toolDelay
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, w.out, w.out
	cmd.Env = append(cmd.Env, env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(tool), err)
	}
	return nil
}

// write puts a file of an SDK into the temporary folder, unless it is there, and
// returns its path.
func (w *workshop) write(name string, content []byte) (string, error) {
	path := filepath.Join(w.tmp, filepath.FromSlash(name))
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, content) {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o600)
}

// tool finds a program, or says how to install it.
func tool(name, install string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is missing; install it, on Debian with: %s", name, install)
	}
	return path, nil
}

func buildGo(ctx context.Context, w *workshop) error {
	compiler, err := tool("go", "apt-get install golang-go, or from go.dev/dl (Go 1.24 or later)")
	if err != nil {
		return err
	}
	return w.run(ctx, []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off"},
		compiler, "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-w", "-o", w.module, ".")
}

// testGo runs the tests as WebAssembly, on real sites: this program runs what go
// test has made. It is told where the plugin is by the folder it runs in.
func testGo(ctx context.Context, w *workshop, _ func() (*bench, error), _ func(testrun.Result)) error {
	compiler, err := tool("go", "apt-get install golang-go, or from go.dev/dl (Go 1.24 or later)")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return w.run(ctx, []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off"},
		compiler, "test", "-exec", strconv.Quote(self)+" plugin exec", "./...")
}
