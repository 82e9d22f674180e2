package compile_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"armature/runtime/compile"
)

const childArgument = "compile-in-child"

// TestMain is a child, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == childArgument {
		if err := compile.Child(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
