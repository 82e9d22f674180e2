// Package compile turns the binaries of guests into code that is ready to run, and
// keeps the process in which they run from compiling them.
//
// A compiler reads what strangers wrote, and some of that makes it take minutes, or
// all memory. So it is asked to work elsewhere, within limits, for one module of each
// site at a time; what it has made is kept, and loaded here. Modules that the limits
// would end anyway are refused before, where that can be seen, and those that failed
// are not tried again at once.
package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"armature/core/account"
	"armature/core/fair"
	"armature/core/fault"
	"armature/runtime/internal/rewrite"
)

// ErrClosed is what a closed Service answers.
var ErrClosed = errors.New("nothing is compiled any more")

const (
	// Most modules are small, and are compiled in a moment. So that none of them has
	// to wait for a large one, a module first gets that much; what has not come to an
	// end by then waits for a turn among its like.
	shortCPU    = time.Second
	shortMemory = 128 << 20
	shortSize   = 256 << 10 // bytes of the rewritten binary; larger ones are not tried

	longCPU    = 10 * time.Second
	longMemory = 512 << 20
	perMiB     = time.Second // more, for each MiB of the rewritten binary

	shortTurns = 2
	longTurns  = 2
	maxWaiting = 64 // loads of one party
)

// Config is what a Service is made from.
type Config struct {
	Rewrite  rewrite.Options
	Compiler Compiler // nil: InProcess
	Folder   string   // where compiled code is kept; empty: nowhere. Trusted: nobody else may write there
	Logger   *slog.Logger
	Memory   *account.Call // charged the machine code of what is loaded; nil: nobody is

	// Accept says of a module that was rewritten whether it is to be compiled, or,
	// with a Validation fault, why it is of no use here.
	Accept func(*rewrite.Module) (compile bool, err error)
}

// Service compiles modules. It is safe for concurrent use.
type Service struct {
	cfg    Config
	log    *slog.Logger
	store  *store
	lanes  [2]*fair.Turns // short, long
	failed *failures
	work   sync.WaitGroup // goroutines of jobs

	mu     sync.Mutex
	jobs   map[string]*job
	closed bool
}

// Open begins to compile.
func Open(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.Compiler == nil {
		cfg.Compiler = InProcess{}
	}
	s := &Service{
		cfg: cfg, log: cfg.Logger, failed: newFailures(), jobs: map[string]*job{},
		lanes: [2]*fair.Turns{fair.NewShared(shortTurns, maxWaiting), fair.NewShared(longTurns, maxWaiting)},
	}
	var err error
	s.store, err = openStore(ctx, cfg.Folder, cfg.Logger)
	return s, err
}

// Close ends what is being compiled, and frees all code. Nothing runs any more that
// was loaded.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for _, j := range s.jobs {
		j.cancel()
	}
	s.mu.Unlock()
	s.work.Wait()
	return s.store.close(ctx)
}

// Runtime is where the code runs.
func (s *Service) Runtime() wazero.Runtime { return s.store.runtime }

// Code is a module that can be run, or described. It is its holder's own.
type Code struct {
	rewrite.Module // without its binary
	Hash           string
	Size           int                   // bytes of the guest's binary
	Compiled       wazero.CompiledModule // nil where Accept wanted none
	release        func()
}

// Release gives the code back.
func (c *Code) Release() { c.release() }

// Load makes a binary ready to run, for a party, such as a site; the one without a
// name is the host itself. Whoever loads the same binary meanwhile gets the same code.
// A load that nobody waits for any more ends. The error is a Validation fault where it
// is about the binary, Unavailable where the party has too much to wait for.
func (s *Service) Load(ctx context.Context, party string, wasm []byte) (*Code, error) {
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])
	if err := s.failed.of(hash); err != nil {
		return nil, err
	}
	j, err := s.join(hash)
	if err != nil {
		return nil, err
	}
	defer s.leave(j)
	for n, stage := range []func() bool{
		func() bool { return s.read(j, wasm) },
		func() bool { return s.compile(j, Limits{longCPU, longMemory}.grown(len(j.code.Binary))) },
	} {
		if err := s.turn(ctx, j, n, party, stage); err != nil {
			return nil, err
		}
		if j.stages[n].last {
			break
		}
	}
	if j.err != nil {
		return nil, j.err
	}
	return s.handle(j, len(wasm)), nil
}

// Failed has a binary count as one that failed: whoever ran it has found what is wrong.
func (s *Service) Failed(c *Code, err error) { s.failed.add(c.Hash, err) }

// Own compiles a binary that the host brings along, and keeps it for good.
func (s *Service) Own(ctx context.Context, wasm []byte) (*Code, error) {
	m, err := rewrite.Rewrite(wasm, s.cfg.Rewrite)
	if err != nil {
		return nil, err
	}
	compiled, err := s.made(ctx, m.Binary, Limits{longCPU, longMemory}.grown(len(m.Binary)))
	if err != nil {
		return nil, err
	}
	m.Binary = nil
	return &Code{Module: *m, Size: len(wasm), Compiled: compiled, release: func() { _ = compiled.Close(context.Background()) }}, nil
}

// OwnSmall compiles a binary that the host brings along, as it is and in this process:
// one that is small enough to take no time.
func (s *Service) OwnSmall(ctx context.Context, wasm []byte) (wazero.CompiledModule, error) {
	return s.store.compileHere(ctx, wasm)
}

// read is the first stage of a job: what can be done in a moment, all of it for most.
func (s *Service) read(j *job, wasm []byte) (ended bool) {
	m, err := rewrite.Rewrite(wasm, s.cfg.Rewrite)
	if err != nil {
		return j.end(nil, fault.Wrap(fault.Validation, "", err, "The module cannot be used: %v", err))
	}
	j.code = m
	wanted, err := s.cfg.Accept(m)
	if err != nil || !wanted {
		return j.end(nil, err)
	}
	compiled, err := s.store.load(m.Binary)
	if compiled != nil || err != nil {
		return j.end(compiled, invalid(err))
	}
	if len(m.Binary) > shortSize {
		return false
	}
	return s.compile(j, Limits{shortCPU, shortMemory})
}

// compile is the second stage of a job, and part of the first; it ends the job if it is
// the last, or comes to an end of its own.
func (s *Service) compile(j *job, l Limits) (ended bool) {
	compiled, err := s.made(j.ctx, j.code.Binary, l)
	if errors.Is(err, ErrLimit) && fault.KindOf(err) != fault.Unavailable {
		if l.CPU < longCPU {
			return false
		}
		err = fault.Wrap(fault.Validation, "", err, "The module is too large or too deeply nested: compiling it takes more than %s of processor time or %d MiB", l.CPU, l.Memory>>20)
	}
	return j.end(compiled, err)
}

// made has a binary compiled, if it is not kept, and loads it.
func (s *Service) made(ctx context.Context, binary []byte, l Limits) (wazero.CompiledModule, error) {
	if compiled, err := s.store.load(binary); compiled != nil || err != nil {
		return compiled, invalid(err)
	}
	folder, err := s.store.folder()
	if err != nil {
		return nil, fault.Unstored(err, "Compiled code cannot be written")
	}
	defer s.store.remove(folder)
	made, err := s.cfg.Compiler.Compile(ctx, binary, folder, l)
	if err == nil {
		err = s.store.take(binary, folder, made)
	}
	if err != nil {
		return nil, err
	}
	compiled, err := s.store.load(binary)
	if compiled == nil && err == nil {
		return nil, errors.New("compiled code is not of the module that it was made of")
	}
	return compiled, invalid(err)
}

// invalid is an error of the runtime's about a binary, which only decodes and checks it
// here.
func invalid(err error) error {
	if err == nil || ofFile(err) {
		return err
	}
	return fault.Wrap(fault.Validation, "", err, "The module is not valid WebAssembly: %v", err)
}

// safely runs a stage of a job. Rewriting and decoding read what strangers wrote: a
// panic in there ends the load, and not the process.
func (s *Service) safely(j *job, stage func() bool) (ended bool) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic while loading a module", "module", j.hash, "panic", r, "stack", string(debug.Stack()))
			ended = j.end(nil, fmt.Errorf("load module %s: panic: %v", j.hash, r))
		}
	}()
	return stage()
}
