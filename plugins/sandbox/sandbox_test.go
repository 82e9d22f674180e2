package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/plugins/bundle"
	"armature/plugins/sandbox"
)

const childArgument = "read-in-sandbox"

// TestMain is a child, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childArgument {
		if len(os.Environ()) != 2 { // GOTRACEBACK and GOMEMLIMIT
			fmt.Printf(`{"error": "the child knows %q"}`, os.Environ())
			return
		}
		if err := sandbox.Child(os.Args[2], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func reader(t *testing.T) *sandbox.Reader {
	t.Helper()
	return sandbox.New(nil, childArgument)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRead: what is read in the sandbox is what is read here, mistakes included.
func TestRead(t *testing.T) {
	r := reader(t)
	path := write(t, "acme.shop.ts", `export const manifest = {description: "ö"}; export function f(x: number) { return x }`)
	want, err := bundle.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Read(t.Context(), "", path)
	if err != nil || got.Hash != want.Hash || got.Manifest.Name != "acme.shop" {
		t.Errorf("in the sandbox: %v, %v", got, err)
	}
	for name, path := range map[string]string{
		"a mistake":    write(t, "a.js", "export function f() {\n  return 1 +;\n}"),
		"no manifest":  write(t, "b.js", "export const manifest = {a: 1}"),
		"no module":    write(t, "c.wasm", "nothing"),
		"not there":    filepath.Join(t.TempDir(), "d.js"),
		"empty folder": t.TempDir(),
	} {
		_, want := bundle.Read(path)
		_, got := r.Read(t.Context(), "", path)
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestNesting: no source ends this process, or is read for ever. Each of these
// makes the compiler, which is recursive, go as deep as it can.
func TestNesting(t *testing.T) {
	r := reader(t)
	const n = 300_000
	again := func(open, middle, shut string) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(shut, n)
	}
	tests := []struct{ name, text string }{
		{"parentheses", "x=" + again("(", "1", ")")},
		{"objects", "x=" + again("{a:", "1", "}")},
		{"negations", "x=" + again("!", "a", "")},
		{"templates", "x=" + again("`${", "1", "}`")},
		{"arrows", "x=" + again("a=>", "1", "")},
		{"members", "x=a" + again(".a", "", "")},
		{"powers", "x=a" + again("**a", "", "")},
		{"if", again("if(a)", ";", "")},
		{"functions", again("function a(){", "", "}")},
		{"classes", "x=" + again("class{a=", "1", "}")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "deep.ts", tt.text+"\nexport function f() {}")
			_, err := r.Read(t.Context(), "", path)
			if err == nil || !strings.HasPrefix(err.Error(), "deep.ts: it is nested too deep") {
				t.Errorf("error %.300v", err)
			}
		})
	}
}

// TestTurns: a site whose scripts take for ever to read keeps no other from its own.
func TestTurns(t *testing.T) {
	r := reader(t)
	ctx, cancel := context.WithCancel(t.Context())
	var hostile sync.WaitGroup
	defer hostile.Wait()
	defer cancel()
	slow := write(t, "slow.js", "x"+strings.Repeat(",x", 1<<16))
	for range 2 * runtime.GOMAXPROCS(0) {
		hostile.Go(func() {
			if _, err := r.Read(ctx, "a", slow); ctx.Err() == nil {
				t.Errorf("read before the other site's: %v", err)
			}
		})
	}
	for range 3 {
		if _, err := r.Read(t.Context(), "b", write(t, "quick.js", "export function f() {}")); err != nil {
			t.Error(err)
		}
	}
}

// TestEnd: a child ends with whoever waits for it.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := reader(t).Read(ctx, "", write(t, "slow.js", "x"+strings.Repeat(",x", 1<<16))) // takes a minute
	if err != context.DeadlineExceeded || time.Since(began) > 40*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}
