// Package sandbox reads scripts in a process of its own.
//
// The compiler that reads JavaScript and TypeScript is made for the author's own
// machine. A source that is nested deep enough has it use up its stack, which ends
// the process, whatever that process does besides; others have it compute for
// hours. A server therefore starts itself once more for each script, with limits on
// time and memory, and only takes over what comes out. The child knows nothing of
// the server's: no secrets, no open files.
package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"armature/core/account"
	"armature/core/fair"
	"armature/plugins/bundle"
	"armature/runtime/child"
)

// The limits of a child.
const (
	maxTime   = 20 * time.Second // on the clock
	maxCPU    = 20 * time.Second // of processors, of all its threads
	maxMemory = 512 << 20        // bytes
	maxStack  = 256 << 20        // bytes, of one goroutine
)

var limits = child.Limits{CPU: maxCPU, Memory: maxMemory, Stack: maxStack}

// maxOutput bounds what a child may say, in bytes.
const maxOutput = bundle.MaxSize + 1<<20

// maxWaiting bounds how many scripts of a site wait to be read.
const maxWaiting = 1000

// Reader reads bundles, scripts of one site one after the other. It is safe for
// concurrent use.
type Reader struct {
	args   []string
	turns  *fair.Turns
	memory *account.Call
}

// New makes a reader whose children are this program with the given arguments and
// the path of a script behind them. They are to call Child. What they may take is
// charged to memory; nil: to nobody.
func New(memory *account.Call, args ...string) *Reader {
	return &Reader{memory: memory, args: args, turns: fair.NewShared(max(2, runtime.GOMAXPROCS(0)), maxWaiting)}
}

// Read is bundle.Read, but that what has to be compiled is read in a process of its own, in turns by
// site. Those of no site are the operator's, and take turns by path.
func (r *Reader) Read(ctx context.Context, site, path string) (*bundle.Bundle, error) {
	if !bundle.Compiles(path) {
		return bundle.Read(path)
	}
	whole, err := r.ask(ctx, site, path)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Parse(whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return b, nil
}

// turn is who takes turns: a site, or a file of the operator's.
type turn struct{ site, path string }

// ask has a child read the script at path.
func (r *Reader) ask(ctx context.Context, site, path string) ([]byte, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	party := turn{site: site}
	if site == "" {
		party.path = path
	}
	switch err := r.turns.Take(ctx, party); {
	case ctx.Err() != nil:
		if err == nil {
			r.turns.Pass(party)
		}
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	defer r.turns.Pass(party)
	taken := min(maxMemory, r.memory.Most())
	if err := r.memory.Take(ctx, account.Child, taken); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	defer r.memory.Give(account.Child, taken)
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out := &bounded{}
	cmd := child.Command(limited, limits, slices.Concat(r.args, []string{path})...)
	cmd.Dir = filepath.Dir(path)
	cmd.Stdout, cmd.Stderr = out, io.Discard
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("%s: it could not be read within %s", filepath.Base(path), maxTime)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%s: it is nested too deep, or takes more than %s or %d MiB to be read", filepath.Base(path), maxCPU, maxMemory>>20)
	case err != nil:
		return nil, fmt.Errorf("%s: it cannot be read: %w", filepath.Base(path), err)
	}
	return answer(path, out.Bytes())
}

// refusal is what a child writes in place of a bundle.
type refusal struct {
	Error string `json:"error"`
}

func answer(path string, out []byte) ([]byte, error) {
	if bytes.HasPrefix(out, []byte("\x00asm")) {
		return out, nil
	}
	var r refusal
	if err := json.Unmarshal(out, &r); err != nil || r.Error == "" {
		return nil, fmt.Errorf("%s: it cannot be read: the reader says %.100q", filepath.Base(path), out)
	}
	return nil, errors.New(r.Error)
}

// Child is the other side: it bounds the process that it runs in, and writes the
// script at path, or why it is none, to out.
func Child(path string, out io.Writer) error {
	if err := child.Bound(limits); err != nil {
		return err
	}
	whole, err := bundle.Whole(path)
	if err != nil {
		return json.NewEncoder(out).Encode(refusal{err.Error()})
	}
	_, err = out.Write(whole)
	return err
}

// bounded is a buffer of at most maxOutput bytes.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, errors.New("the reader says too much")
	}
	return b.Buffer.Write(p)
}
