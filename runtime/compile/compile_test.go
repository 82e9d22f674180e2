package compile_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/account"
	"armature/core/fault"
	"armature/runtime/child"
	"armature/runtime/compile"
	"armature/runtime/internal/rewrite"
	"armature/runtime/wasmtest"
)

// open begins to compile with c, in a folder; none: nowhere.
func open(t *testing.T, c compile.Compiler, folder string) *compile.Service {
	t.Helper()
	s, err := compile.Open(t.Context(), compile.Config{
		Rewrite: rewrite.Options{Prefix: "test.", MaxPages: 16, MaxTable: 16}, Compiler: c, Folder: folder,
		Logger: slog.New(slog.DiscardHandler),
		Accept: func(m *rewrite.Module) (bool, error) { return len(m.Custom) == 0, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// module is a module that nobody else has; one that is large gets no short turn.
func module(t *testing.T, number string, large bool) []byte {
	t.Helper()
	more := ""
	if large {
		more = strings.Repeat("(drop (i64.const 1234567890123456789))", 30_000)
	}
	wasm, err := wasmtest.Assemble(`(module (func (export "run") (result i32) ` + more + `(i32.const ` + number + `)))`)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// counting counts what it is asked for, and may be told to wait or to fail.
type counting struct {
	compile.InProcess
	asked atomic.Int64
	wait  chan struct{} // nil: it does not
	fail  error
}

func (c *counting) Compile(ctx context.Context, binary []byte, folder string, l compile.Limits) (compile.Made, error) {
	c.asked.Add(1)
	if c.wait != nil {
		select {
		case <-c.wait:
		case <-ctx.Done():
			return compile.Made{}, ctx.Err()
		}
	}
	if c.fail != nil {
		return compile.Made{}, c.fail
	}
	return c.InProcess.Compile(ctx, binary, folder, l)
}

// TestCompiledElsewhere: what a child has compiled is loaded here, kept, and loaded
// again without a child.
func TestCompiledElsewhere(t *testing.T) {
	folder, wasm := t.TempDir(), module(t, "7", false)
	for _, c := range []compile.Compiler{compile.NewProcess(childArgument), &counting{fail: errors.New("it is kept")}} {
		s := open(t, c, folder)
		code, err := s.Load(t.Context(), "a", wasm)
		if err != nil {
			t.Fatal(err)
		}
		if code.Compiled == nil || len(code.Exports) == 0 || code.Size != len(wasm) {
			t.Errorf("%+v", code)
		}
		code.Release()
	}
}

// TestFailureIsRemembered: what was wrong with a module once is said again, and nobody
// is asked a second time; of what was no fault of the module's, somebody is.
func TestFailureIsRemembered(t *testing.T) {
	tests := []struct {
		name  string
		fail  error
		kind  fault.Kind
		asked int64 // by two loads
	}{
		{"invalid", fault.Invalid("", "no"), fault.Validation, 1},
		{"too much", compile.ErrLimit, fault.Validation, 2}, // a short turn and a long one
		{"no place", fault.Unstored(errors.New("disk"), "no"), fault.Unavailable, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &counting{fail: tt.fail}
			s := open(t, c, "")
			for range 2 {
				if _, err := s.Load(t.Context(), "a", module(t, "7", false)); fault.KindOf(err) != tt.kind {
					t.Errorf("error %v", err)
				}
			}
			if n := c.asked.Load(); n != tt.asked {
				t.Errorf("compiled %d times, want %d", n, tt.asked)
			}
			c.fail = nil
			if _, err := s.Load(t.Context(), "a", module(t, "8", false)); err != nil {
				t.Errorf("another module: %v", err)
			}
		})
	}
}

// TestLittleMemoryIsNoFault: a module that takes more memory than the server has for it is
// not said to be at fault, and is tried again.
func TestLittleMemoryIsNoFault(t *testing.T) {
	c := &counting{fail: fmt.Errorf("%w: %w", compile.ErrLimit, child.ErrMemory)}
	s := open(t, compile.Charged(c, account.New(64<<20, nil).Work()), "")
	for range 2 {
		if _, err := s.Load(t.Context(), "a", module(t, "7", false)); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("error %v", err)
		}
	}
	if n := c.asked.Load(); n != 2 {
		t.Errorf("compiled %d times, want 2", n)
	}
}

// TestMachineCodeIsCharged: what is loaded takes memory until nobody has it any more, and
// is not loaded where there is none.
func TestMachineCodeIsCharged(t *testing.T) {
	synctest.Test(t, machineCodeIsCharged) // waiting for memory takes no time
}

func machineCodeIsCharged(t *testing.T) {
	a := account.New(1<<20, nil)
	s, err := compile.Open(t.Context(), compile.Config{
		Rewrite: rewrite.Options{Prefix: "test.", MaxPages: 16}, Logger: slog.New(slog.DiscardHandler), Memory: a.Work(),
		Accept: func(*rewrite.Module) (bool, error) { return true, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	held := func() int64 { return a.Stats().Held[account.Plugin] }
	var codes []*compile.Code
	for range 2 {
		code, err := s.Load(t.Context(), "a", module(t, "7", false))
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
	}
	if held() == 0 {
		t.Error("nothing is charged")
	}
	codes[0].Release()
	if held() == 0 {
		t.Error("somebody still has the code")
	}
	codes[1].Release()
	if n := held(); n != 0 {
		t.Errorf("%d bytes are charged for nothing", n)
	}
	full := &account.Call{}
	a.Begin(full, "another", nil, false)
	for full.Try(account.Guest, 64<<10) {
	}
	other := &account.Call{}
	a.Begin(other, "third", nil, false)
	for other.Try(account.Guest, 64<<10) {
	}
	for other.Try(account.Guest, 1) {
	}
	if code, err := s.Load(t.Context(), "a", module(t, "8", false)); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("where there is no memory: %v, %v", code, err)
	}
	full.End()
	other.End()
	code, err := s.Load(t.Context(), "a", module(t, "8", false))
	if err != nil {
		t.Fatal(err)
	}
	code.Release()
}

// TestNobodyWaits: a compilation ends when the last one who waits for it goes away, and
// not before.
func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counting{wait: make(chan struct{})}
		s := open(t, c, "")
		wasm := module(t, "7", false)
		var wg sync.WaitGroup
		load := func(party string) context.CancelFunc {
			ctx, cancel := context.WithCancel(t.Context())
			wg.Go(func() {
				if _, err := s.Load(ctx, party, wasm); !errors.Is(err, context.Canceled) {
					t.Errorf("the load of %s: %v", party, err)
				}
			})
			synctest.Wait()
			return cancel
		}
		a, b := load("a"), load("b")
		a()
		synctest.Wait()
		if n := c.asked.Load(); n != 1 {
			t.Fatalf("compiled %d times", n)
		}
		b()
		wg.Wait()
		close(c.wait)
		code, err := s.Load(t.Context(), "c", wasm)
		if err != nil {
			t.Fatal("a load after that:", err)
		}
		code.Release()
		if n := c.asked.Load(); n != 2 {
			t.Errorf("compiled %d times: the first ended, and went on", n)
		}
	})
}

// TestTurns: however many modules a party loads, large and small, those of another one
// are compiled meanwhile.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &counting{wait: make(chan struct{})}
		s := open(t, slow, "")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		load := func(party, number string, large bool) {
			wg.Go(func() { _, _ = s.Load(ctx, party, module(t, number, large)) })
			synctest.Wait()
		}
		for _, large := range []bool{true, false} {
			for _, number := range []string{"1", "2", "3"} {
				load("loud", number, large)
			}
		}
		if n := slow.asked.Load(); n != 2 { // a short turn and a long one
			t.Errorf("one party compiles %d at a time", n)
		}
		load("quiet", "4", true)
		load("quiet", "4", false)
		if n := slow.asked.Load(); n != 4 {
			t.Errorf("%d compile, want two of each party", n)
		}
		cancel()
		wg.Wait()
	})
}

// TestCloseEndsCompiling: nothing goes on when a Service is closed, and whoever waits
// hears of it.
func TestCloseEndsCompiling(t *testing.T) {
	c := &counting{wait: make(chan struct{})}
	s, err := compile.Open(t.Context(), compile.Config{
		Rewrite: rewrite.Options{Prefix: "test.", MaxPages: 16}, Compiler: c, Logger: slog.New(slog.DiscardHandler),
		Accept: func(*rewrite.Module) (bool, error) { return true, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := s.Load(t.Context(), "a", module(t, "7", false))
		ended <- err
	}()
	for c.asked.Load() == 0 {
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, compile.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

// lying says what it likes of what it has made.
type lying struct {
	compile.InProcess
	lie func(folder string, m *compile.Made)
}

func (l lying) Compile(ctx context.Context, binary []byte, folder string, limits compile.Limits) (compile.Made, error) {
	m, err := l.InProcess.Compile(ctx, binary, folder, limits)
	l.lie(folder, &m)
	return m, err
}

// TestOnlyWhatWasMade: code is taken over from where it has to be, if it is what was
// made, and loaded if it is this module's; and else nothing is compiled here.
func TestOnlyWhatWasMade(t *testing.T) {
	tests := map[string]func(folder string, m *compile.Made){
		"another sum":    func(_ string, m *compile.Made) { m.Sum = strings.Repeat("0", 64) },
		"another place":  func(_ string, m *compile.Made) { m.File = filepath.Join("..", m.File) },
		"another name":   func(_ string, m *compile.Made) { m.File += "0" },
		"nothing":        func(_ string, m *compile.Made) { *m = compile.Made{} },
		"no file":        func(folder string, m *compile.Made) { _ = os.Remove(filepath.Join(folder, m.File)) },
		"a changed byte": func(folder string, m *compile.Made) { _ = os.Truncate(filepath.Join(folder, m.File), 1) },
		"of another module": func(folder string, m *compile.Made) {
			other := filepath.Join(filepath.Dir(m.File), strings.Repeat("0", 64))
			_ = os.Rename(filepath.Join(folder, m.File), filepath.Join(folder, other))
			m.File = other
		},
		"a link": func(folder string, m *compile.Made) {
			at := filepath.Join(folder, m.File)
			_ = os.Rename(at, at+".real")
			_ = os.Symlink(at+".real", at)
		},
	}
	for name, lie := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s := open(t, lying{lie: lie}, folder)
			code, err := s.Load(t.Context(), "a", module(t, "7", false))
			if err == nil {
				code.Release()
				t.Error("it is loaded")
			}
			if fault.KindOf(err) == fault.Validation {
				t.Errorf("the module is blamed: %v", err)
			}
		})
	}
}

// TestChildMeetsItsLimits: a module that takes too much is refused, for good, and says
// so; the process that runs everything else goes on.
func TestChildMeetsItsLimits(t *testing.T) {
	// Blocks over many locals: the compiler takes their product.
	var b strings.Builder
	for i := range 400 {
		_, _ = b.WriteString("(if (local.get 0) (then (local.set " + strconv.Itoa(i) + " (i32.add (local.get " + strconv.Itoa(i) + ") (i32.const 1)))))")
	}
	wasm, err := wasmtest.Assemble("(module (func (export \"run\") (param i32) (local " + strings.Repeat("i32 ", 2000) + ")" + strings.Repeat(b.String(), 2) + "))")
	if err != nil {
		t.Fatal(err)
	}
	m, err := rewrite.Rewrite(wasm, rewrite.Options{Prefix: "test.", MaxPages: 16})
	if err != nil {
		t.Fatal(err)
	}
	_, err = compile.NewProcess(childArgument).Compile(t.Context(), m.Binary, t.TempDir(), compile.Limits{CPU: 30 * time.Second, Memory: 24 << 20})
	if !errors.Is(err, compile.ErrLimit) {
		t.Errorf("error %v", err)
	}
}
