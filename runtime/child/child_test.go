package child_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/runtime/child"
)

const childArgument = "child"

// TestMain is a child, too.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != childArgument {
		os.Exit(m.Run())
	}
	limits, rest, err := child.ParseArgs(os.Args[2:])
	if err == nil {
		err = child.Bound(limits)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch rest[0] {
	case "knows":
		fmt.Println(strings.Join(os.Environ(), " "))
	case "grows":
		for {
			grown = append(grown, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "deep":
		fmt.Println(deep(1))
	case "spins":
		for n := uint64(1); n > 0; n = n | 1 + n*2 {
			spun = n
		}
	case "fails":
		fmt.Fprintln(os.Stderr, "no luck")
		os.Exit(3)
	}
}

var (
	spun  uint64
	grown [][]byte
)

func deep(n int) int {
	if n < 0 {
		return 0
	}
	return deep(n+1) + n
}

// do has a child do something within limits.
func do(t *testing.T, l child.Limits, what string) (out string, err error) {
	t.Helper()
	c := child.Command(t.Context(), l, slices.Concat([]string{childArgument}, l.Args(), []string{what})...)
	var said, answer bytes.Buffer
	c.Stdout, c.Stderr = &answer, &said
	if err := c.Run(); err != nil {
		return "", child.Failed(c, l, err, said.Bytes())
	}
	return answer.String(), nil
}

// TestKnowsNothing: a child has nothing of what its parent was told.
func TestKnowsNothing(t *testing.T) {
	t.Setenv("ARMATURE_SECRET_KEY", "secret")
	out, err := do(t, child.Limits{}, "knows")
	if err != nil || out != "GOTRACEBACK=none\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestLimits: a child ends at each of its limits, and its parent learns at which.
func TestLimits(t *testing.T) {
	l := child.Limits{CPU: time.Second, Memory: 64 << 20, Stack: 1 << 20}
	for what, want := range map[string]error{"grows": child.ErrMemory, "deep": child.ErrMemory, "spins": child.ErrTime} {
		t.Run(what, func(t *testing.T) {
			if what == "spins" && runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
				t.Skip("this system bounds no processor time")
			}
			t.Parallel()
			if _, err := do(t, l, what); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
	if _, err := do(t, l, "fails"); err == nil || errors.Is(err, child.ErrMemory) || errors.Is(err, child.ErrTime) || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("a failure of its own: %v", err)
	}
}
