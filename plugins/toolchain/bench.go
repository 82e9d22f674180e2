package toolchain

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"armature/plugins/testrun"
)

// Bench is where the tests of a plugin run, on sites of their own.
type Bench interface {
	// Open makes the bench ready, with the plugin installed on the site of each test.
	// What goes before it need not wait for sites; it is called once for each round.
	Open(ctx context.Context) error
	// Module runs the tests that a module exports; file is what it was compiled from.
	Module(ctx context.Context, file string, wasm []byte) error
	// Program runs a WASI program with the given arguments, in the plugin's folder.
	// That it ends with another code than 0 is an error.
	Program(ctx context.Context, dir, program string, args []string, stdout, stderr io.Writer) error
	// Command is the command, quoted as go test wants it, that does what Program does.
	Command() (string, error)
	// Tell is told of each test that a language has run by itself.
	Tell(testrun.Result)
}

// testModules compiles the files of a pattern, each into a module, and runs those.
func testModules(ctx context.Context, j *job, b Bench, pattern string, compile func(ctx context.Context, j *job, file string) error) error {
	files, err := filepath.Glob(filepath.Join(j.dir, filepath.FromSlash(pattern)))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("there is no %s", pattern)
	}
	if err := b.Open(ctx); err != nil {
		return err
	}
	for _, file := range files {
		rel, err := filepath.Rel(j.dir, file)
		if err != nil {
			return err
		}
		if err := compile(ctx, j, rel); err != nil {
			return err
		}
		wasm, err := os.ReadFile(j.module)
		if err == nil {
			wasm, err = j.withLines(wasm)
		}
		if err != nil {
			return err
		}
		if err := b.Module(ctx, rel, wasm); err != nil {
			return err
		}
	}
	return nil
}
