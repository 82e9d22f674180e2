package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"armature/core/fault"
	"armature/runtime/child"
)

const (
	maxStack = 256 << 20 // bytes, of one goroutine of a child
	maxCode  = 512 << 20 // bytes of compiled code
	maxSaid  = 64 << 10  // bytes of what a child says
)

// patience is how many times as long as its processor time a compilation may take on
// the clock: there are others for whom it has to wait, and being nicer than they are it
// gets a twentieth of a processor where four of them want two.
const patience = 30

// Process compiles in a process of its own: this program, started once more with the
// given arguments, the limits and a folder behind them. That is to call Child.
type Process struct{ args []string }

// NewProcess makes a Process.
func NewProcess(args ...string) *Process { return &Process{args} }

// Compile implements Compiler.
func (p *Process) Compile(ctx context.Context, binary []byte, folder string, l Limits) (Made, error) {
	limits := child.Limits{CPU: l.CPU, Memory: l.Memory, Stack: maxStack, File: maxCode}
	patient, cancel := context.WithTimeout(ctx, patience*l.CPU)
	defer cancel()
	cmd := child.Command(patient, limits, slices.Concat(p.args, limits.Args(), []string{folder})...)
	// Nothing but the module is kept, so collecting garbage early only takes time.
	cmd.Env = append(cmd.Env, "GOGC=400", "GOMAXPROCS=1")
	var out, said bounded
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(binary), &out, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return Made{}, ctx.Err()
	case err != nil && patient.Err() != nil:
		return Made{}, late(cmd, l, err)
	case err != nil:
		return Made{}, ended(cmd, limits, err, said.Bytes())
	}
	return heard(out.Bytes())
}

// ended is the error of a child that did not come to say anything.
func ended(cmd *exec.Cmd, l child.Limits, err error, said []byte) error {
	err = child.Failed(cmd, l, err, said)
	if errors.Is(err, child.ErrMemory) || errors.Is(err, child.ErrTime) {
		return fmt.Errorf("%w: %w", ErrLimit, err)
	}
	return fmt.Errorf("compile in a process of its own: %w", err)
}

// late is the error of a child that took too long on the clock: where the system does
// not bound processor time, or where there was too little of it.
func late(cmd *exec.Cmd, l Limits, err error) error {
	if p := cmd.ProcessState; p != nil && p.UserTime()+p.SystemTime() >= l.CPU {
		return fmt.Errorf("%w: %w", ErrLimit, child.ErrTime)
	}
	return fault.Wrap(fault.Unavailable, "", err, "The module was not compiled in time; the server has too much else to do")
}

// answer is what a child says: what it has made, or what is wrong with the module.
type answer struct {
	Made
	Invalid string `json:"invalid,omitempty"`
}

func heard(out []byte) (Made, error) {
	var a answer
	if err := json.Unmarshal(out, &a); err != nil || a.Invalid == "" && a.File == "" {
		return Made{}, fmt.Errorf("compile in a process of its own: it says %.100q", out)
	}
	if a.Invalid != "" {
		return Made{}, fault.Invalid("", "%s", a.Invalid)
	}
	return a.Made, nil
}

// Child is the other side: it bounds the process that it runs in, compiles what it
// reads from in, and says how that went on out. The arguments are those behind the
// ones that NewProcess was given.
func Child(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	limits, rest, err := child.ParseArgs(args)
	if err == nil && len(rest) != 1 {
		err = errors.New("a folder is missing")
	}
	if err == nil {
		err = child.Bound(limits)
	}
	if err != nil {
		return err
	}
	binary, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the module: %w", err)
	}
	var a answer
	a.Made, err = compileInto(ctx, binary, rest[0])
	var invalid *fault.Error
	if errors.As(err, &invalid) {
		a.Invalid, err = invalid.Message, nil
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(a)
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxSaid-b.Len())])
	return len(p), nil
}

// grown are the limits for a module of so many bytes: compiling takes time in
// proportion to what there is.
func (l Limits) grown(size int) Limits {
	l.CPU += time.Duration(size>>20) * perMiB
	return l
}
