// Command armature is the document platform in one binary: the server and what
// an operator does to its data. Every group of commands has a room of its own; this
// package puts them together.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
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

// run is the whole program: its arguments in, its exit code out (terminal.Code).
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &terminal.Terminal{Stdout: stdout, Stderr: stderr}
	root := newRoot(out, args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var ended terminal.ExitError
	if err != nil && !errors.As(err, &ended) { // which has said why
		// A command line that could not be read may have said it behind the mistake.
		out.JSON = out.JSON || slices.Contains(args, "--json")
		out.Fail(err)
	}
	return terminal.Code(err)
}
