// Package child starts this program once more, for work on what strangers wrote that
// may take more memory or time than a server has to spare, or end the process it is
// done in. The new process knows nothing of the server's: no secrets, no open files.
// It bounds itself before it begins, and yields to others.
package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits are what a child may use. A zero field does not bound.
type Limits struct {
	CPU    time.Duration // of processors, of all threads together; whole seconds
	Memory uint64        // bytes
	Stack  int           // bytes, of one goroutine
	File   uint64        // bytes, of each file that it writes
}

// exitMemory is the exit code of a child that found itself over its memory.
const exitMemory = 70

// noMemory is how Go's runtime, the C library and a race detector say that the system
// gives them none.
var noMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to allocate"}

// ErrMemory and ErrTime are how Failed says which limit a child met.
var (
	ErrMemory = errors.New("it takes too much memory")
	ErrTime   = errors.New("it takes too much processor time")
)

// Command is this program with arguments, which is to call Bound before it does
// anything. It ends with ctx. The environment is empty but for what Go's runtime has
// to know of the limits, so that most of the memory is not garbage when they are met.
func Command(ctx context.Context, l Limits, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program(), args...)
	c.Args[0] = filepath.Base(os.Args[0])
	c.Env = []string{"GOTRACEBACK=none"}
	if l.Memory > 0 {
		c.Env = append(c.Env, "GOMEMLIMIT="+strconv.FormatUint(l.Memory/8*7, 10))
	}
	c.Stdin = strings.NewReader("") // not /dev/null, which a container may lack
	c.WaitDelay = time.Second
	return c
}

// program is where this program is found. Linux knows it even if its file has been
// replaced; in a container without /proc there is the name it was started by.
func program() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	if path, err := os.Executable(); err == nil {
		return path
	}
	path, err := exec.LookPath(os.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return os.Args[0] // starting it says what is wrong
	}
	return path
}

// Failed is what the error of a child's Run or Wait means, of one that was not ended by
// its context: ErrMemory or ErrTime where it met one of its limits, and otherwise err.
// said is what it wrote to its standard error, or the beginning of that.
func Failed(c *exec.Cmd, l Limits, err error, said []byte) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	used := exit.UserTime() + exit.SystemTime()
	text := string(said)
	switch {
	case exit.ExitCode() == exitMemory, slices.ContainsFunc(noMemory, func(s string) bool { return strings.Contains(text, s) }):
		return fmt.Errorf("%w: more than %d MiB", ErrMemory, l.Memory>>20)
	case l.CPU > 0 && !exit.Exited() && used >= l.CPU/2: // by the system, which counts in ticks
		return fmt.Errorf("%w: more than %s", ErrTime, l.CPU)
	case strings.Contains(text, "stack exceeds"):
		return fmt.Errorf("%w: its stack is over %d MiB", ErrMemory, l.Stack>>20)
	}
	first, _, _ := strings.Cut(text, "\n")
	return fmt.Errorf("%w: %s", err, first)
}

// Args are the limits as arguments of a child, for ParseArgs.
func (l Limits) Args() []string {
	return []string{l.CPU.String(), strconv.FormatUint(l.Memory, 10), strconv.Itoa(l.Stack), strconv.FormatUint(l.File, 10)}
}

// ParseArgs reads what Args wrote, and returns the arguments behind it.
func ParseArgs(args []string) (l Limits, rest []string, err error) {
	if len(args) < 4 {
		return l, nil, errors.New("the limits are missing")
	}
	var errs [4]error
	l.CPU, errs[0] = time.ParseDuration(args[0])
	l.Memory, errs[1] = strconv.ParseUint(args[1], 10, 64)
	l.Stack, errs[2] = strconv.Atoi(args[2])
	l.File, errs[3] = strconv.ParseUint(args[3], 10, 64)
	return l, slices.Clone(args[4:]), errors.Join(errs[:]...)
}
