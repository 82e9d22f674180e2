// Command armature is the document platform in one binary: the server and what
// an operator does to its data. Every group of commands has a room of its own; this
// package puts them together.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata"

	"armature/cmd/armature/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program the usual way, at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: its arguments in, its exit code out. 1 is a command
// that failed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(&terminal.Terminal{Stdout: stdout, Stderr: stderr}, args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		var ended terminal.ExitError
		if errors.As(err, &ended) {
			return ended.Code
		}
		fmt.Fprintln(stderr, "armature:", terminal.Explain(err))
		return 1
	}
	return 0
}
