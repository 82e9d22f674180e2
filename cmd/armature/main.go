// Command armature is the document platform in one binary: the server and what
// an operator does to its data. Every subcommand is a file of its own; this
// package connects the parts and holds no rule of theirs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // sites have time zones, also where the system has no files for them
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
	a := &app{stdout: stdout, stderr: stderr, args: args}
	root := a.command()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		var ended exitError
		if errors.As(err, &ended) {
			return ended.code
		}
		fmt.Fprintln(stderr, "armature:", explain(err))
		return 1
	}
	return 0
}
