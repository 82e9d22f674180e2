package rewrite_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"armature/runtime/internal/rewrite"
)

// Random programs compute the same before and after, with an interruption every
// few instructions, and leave the call depth balanced.
func TestRewriteKeepsTheMeaning(t *testing.T) {
	for _, engine := range []struct {
		name     string
		config   wazero.RuntimeConfig
		programs int // compiling takes longer than running
	}{{"interpreter", wazero.NewRuntimeConfigInterpreter(), 200}, {"compiler", wazero.NewRuntimeConfig(), 60}} {
		t.Run(engine.name, func(t *testing.T) {
			rt := wazero.NewRuntimeWithConfig(t.Context(), engine.config)
			defer func() { _ = rt.Close(t.Context()) }()
			meter := linkYield(t, rt)
			for seed := range uint64(engine.programs) {
				src := program(rand.New(rand.NewPCG(seed, 7)))
				before := assemble(t, src)
				after, err := rewrite.Rewrite(before, options)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for _, arg := range []uint64{0, 1, 77} {
					want := run(t, rt, before, nil, arg)
					got := run(t, rt, after.Binary, meter, arg)
					if got.text != want.text || !bytes.Equal(got.memory, want.memory) {
						t.Fatalf("seed %d, argument %d: %s; want %s\n%s", seed, arg, got.text, want.text, src)
					}
				}
			}
			if meter.count < engine.programs {
				t.Errorf("only %d interruptions", meter.count)
			}
		})
	}
}

const testDepth = 1000

// yields gives the meter a little fuel at every interruption.
type yields struct {
	global api.MutableGlobal
	count  int
}

// refill gives just more than the costliest stretch of a program without a check.
func (y *yields) refill(depth uint64) { y.global.Set(500<<rewrite.FuelShift | depth) }

func linkYield(t *testing.T, rt wazero.Runtime) *yields {
	y := &yields{}
	_, err := rt.NewHostModuleBuilder(options.Prefix+rewrite.HostModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(context.Context, []uint64) {
			y.count++
			y.refill(y.global.Get() & rewrite.MaxDepth)
		}), nil, nil).Export(rewrite.Yield).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return y
}

type outcome struct {
	text   string
	memory []byte
}

func run(t *testing.T, rt wazero.Runtime, binary []byte, y *yields, arg uint64) outcome {
	t.Helper()
	mod, err := rt.InstantiateWithConfig(t.Context(), binary, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mod.Close(t.Context()) }()
	if y != nil {
		y.global = mod.ExportedGlobal(options.Prefix + rewrite.Meter).(api.MutableGlobal)
		y.refill(testDepth)
	}
	results, err := mod.ExportedFunction("run").Call(t.Context(), arg)
	o := outcome{text: fmt.Sprint(results)}
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		o.text = first
	} else if y != nil && y.global.Get()&rewrite.MaxDepth != testDepth {
		t.Fatalf("depth %d at the end", y.global.Get()&rewrite.MaxDepth)
	}
	memory, _ := mod.Memory().Read(0, mod.Memory().Size())
	o.memory = bytes.Clone(memory)
	return o
}

// gen writes a random program. Loops count down; the odd jump back to an outer
// loop is bounded by a budget in a global.
type gen struct {
	*rand.Rand
	b      strings.Builder
	labels []string // of blocks and loops around, outermost first
	next   int
	self   int
}

const programFuncs = 4

func program(r *rand.Rand) string {
	g := &gen{Rand: r}
	g.b.WriteString("(module (memory 1) (table 4 funcref) (elem (i32.const 0) $f0 $f1 $f2 $f3) (type $sig (func (param i32 i32) (result i32)))\n")
	g.b.WriteString("(global $budget (mut i32) (i32.const 60)) (global $g (mut i32) (i32.const 3)) (type $pair (func (param i32 i32) (result i32 i32)))\n")
	g.b.WriteString("(func $pair (param $a i32) (param $b i32) (result i32 i32) (if (local.get $a) (then (return (local.get $b) (local.get $a)))) (local.get $a) (i32.add (local.get $a) (local.get $b)))\n")
	for i := range programFuncs {
		g.self, g.next = i, 0
		var body strings.Builder
		g.b, body = body, g.b
		g.block(2)
		code := g.b.String()
		g.b = strings.Builder{}
		g.b.WriteString(body.String())
		fmt.Fprintf(&g.b, "(func $f%d (param $a i32) (param $b i32) (result i32) (local $x i32) (local $y i32)", i)
		for c := range g.next {
			fmt.Fprintf(&g.b, " (local $c%d i32)", c)
		}
		fmt.Fprintf(&g.b, "\n%s (i32.add (local.get $x) (local.get $y)))\n", code)
	}
	g.b.WriteString(`(func (export "run") (param i32) (result i32) (call $f0 (local.get 0) (i32.const 5))))`)
	return g.b.String()
}

func (g *gen) printf(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

func (g *gen) local() string { return []string{"$a", "$b", "$x", "$y"}[g.IntN(4)] }

func (g *gen) expr(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		if g.IntN(3) == 0 {
			return fmt.Sprintf("(i32.const %d)", g.IntN(1000)-200)
		}
		return fmt.Sprintf("(local.get %s)", g.local())
	}
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("(i32.load8_u (i32.and %s (i32.const 4095)))", g.expr(depth-1))
	case 1:
		return fmt.Sprintf("(i32.div_u %s %s)", g.expr(depth-1), g.expr(depth-1))
	case 2:
		return fmt.Sprintf("(select %s %s %s)", g.expr(depth-1), g.expr(depth-1), g.expr(depth-1))
	case 3:
		return fmt.Sprintf("(if (result i32) %s (then %s) (else %s))", g.expr(depth-1), g.expr(depth-1), g.expr(depth-1))
	case 4:
		if g.self+1 < programFuncs && g.IntN(3) == 0 {
			return fmt.Sprintf("(call $f%d %s %s)", g.self+1+g.IntN(programFuncs-g.self-1), g.expr(depth-1), g.expr(depth-1))
		}
	case 5:
		return "(global.get $g)"
	case 6:
		return fmt.Sprintf("(i32.add (call $pair %s %s))", g.expr(depth-1), g.expr(depth-1))
	}
	op := []string{"add", "sub", "mul", "xor", "and", "lt_u", "shr_u"}[g.IntN(7)]
	return fmt.Sprintf("(i32.%s %s %s)", op, g.expr(depth-1), g.expr(depth-1))
}

func (g *gen) block(depth int) {
	for range 1 + g.IntN(4) {
		g.statement(depth)
	}
}

func (g *gen) statement(depth int) {
	if depth == 0 {
		g.printf("(local.set %s %s)\n", g.local(), g.expr(2))
		return
	}
	switch g.IntN(14) {
	case 0, 1:
		g.printf("(if %s (then\n", g.expr(2))
		g.labels = append(g.labels, "")
		g.block(depth - 1)
		g.printf(") (else\n")
		g.block(depth - 1)
		g.printf("))\n")
		g.labels = g.labels[:len(g.labels)-1]
	case 2, 3:
		g.enter("block", "$b", func(string) { g.block(depth - 1) })
	case 4, 5, 6:
		c := fmt.Sprintf("$c%d", g.next)
		g.next++
		g.printf("(local.set %s (i32.const %d))\n", c, 1+g.IntN(4))
		g.enter("loop", "$l", func(label string) {
			g.block(depth - 1)
			g.printf("(br_if %s (i32.gt_s (local.tee %s (i32.sub (local.get %s) (i32.const 1))) (i32.const 0)))\n", label, c, c)
		})
	case 7:
		g.printf("(if %s (then (return %s)))\n", g.expr(2), g.expr(1))
	case 8:
		g.jump()
	case 9:
		g.printf("(i32.store8 (i32.and %s (i32.const 4095)) %s)\n", g.expr(1), g.expr(2))
	case 10:
		g.printf("(memory.fill (i32.and %s (i32.const 4095)) %s (i32.and %s (i32.const 255)))\n", g.expr(1), g.expr(1), g.expr(1))
	case 11:
		g.printf("(memory.copy (i32.and %s (i32.const 4095)) (i32.and %s (i32.const 4095)) (i32.and %s (i32.const 255)))\n", g.expr(1), g.expr(1), g.expr(1))
	case 12:
		// a call through the table, upwards only, or the program would not end
		if g.self+1 < programFuncs {
			g.printf("(global.set $g (call_indirect (type $sig) %s %s (i32.const %d)))\n", g.expr(1), g.expr(1), g.self+1)
		}
	default:
		g.printf("(local.set %s %s)\n", g.local(), g.expr(3))
	}
}

func (g *gen) enter(kind, prefix string, body func(label string)) {
	label := fmt.Sprintf("%s%d", prefix, len(g.labels))
	g.printf("(%s %s\n", kind, label)
	g.labels = append(g.labels, label)
	body(label)
	g.labels = g.labels[:len(g.labels)-1]
	g.printf(")\n")
}

// jump leaves some blocks, or begins a loop again while the budget lasts.
func (g *gen) jump() {
	if len(g.labels) == 0 {
		return
	}
	n := len(g.labels)
	g.printf("(global.set $budget (i32.sub (global.get $budget) (i32.const 1)))\n")
	lasts := "(i32.gt_s (global.get $budget) (i32.const 0))"
	if g.IntN(2) == 0 {
		g.printf("(br_if %d (i32.and %s %s))\n", g.IntN(n), g.expr(1), lasts)
		return
	}
	g.printf("(if %s (then (br_table", lasts)
	for range 1 + g.IntN(4) {
		g.printf(" %d", 1+g.IntN(n)) // one more: the if around
	}
	g.printf(" (i32.and %s (i32.const 3)))))\n", g.expr(1))
}
