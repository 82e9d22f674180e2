package quickjs_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
	"armature/runtime/quickjs"
	"armature/runtime/wasmtest"
)

// eng serves all tests, so that QuickJS is compiled once.
var eng = sync.OnceValues(func() (*engine.Engine, error) {
	imports := hostapi.Imports(hostapi.Config{})
	return engine.New(context.Background(), engine.Config{
		Imports: imports, Interpreters: []engine.Interpreter{quickjs.New(imports)},
	})
})

// shell is the module that stands for a script with the given exports.
func shell(tb testing.TB, script string, exports ...string) []byte {
	tb.Helper()
	wat := "(module\n"
	for _, name := range exports {
		wat += `(func (export "` + name + "\") (param i32) unreachable)\n"
	}
	wasm, err := wasmtest.Assemble(wat + ")")
	if err != nil {
		tb.Fatal(err)
	}
	payload := binary.AppendUvarint(nil, uint64(len(abi.ScriptSection)))
	payload = append(payload, abi.ScriptSection...)
	payload = append(payload, script...)
	return append(binary.AppendUvarint(append(wasm, 0), uint64(len(payload))), payload...)
}

func load(tb testing.TB, script string, exports ...string) (*engine.Module, error) {
	tb.Helper()
	e, err := eng()
	if err != nil {
		tb.Fatal(err)
	}
	m, err := e.Load(context.Background(), shell(tb, script, exports...))
	if err == nil {
		tb.Cleanup(m.Release)
	}
	return m, err
}

// script is one that is loaded, with the exports that are named.
func script(tb testing.TB, text string, exports ...string) *engine.Module {
	tb.Helper()
	m, err := load(tb, text, exports...)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// run calls an export within limits and returns the output.
func run(tb testing.TB, m *engine.Module, export, input string, limits engine.Limits) (string, engine.Usage, error) {
	tb.Helper()
	plugin := &hostapi.Plugin{Site: "one", Name: "t.script", Limits: hostapi.DefaultLimits}
	st := hostapi.New(plugin, &method.Call{Verb: "POST", Caller: identity.Root()}, []byte(input))
	defer st.Free()
	usage, err := st.Run(context.Background(), m, export, limits.Or(engine.Limits{Wall: time.Minute}))
	return string(st.Output()), usage, err
}

// answer is the output of the only export, f.
func answer(t *testing.T, m *engine.Module, input string) string {
	t.Helper()
	out, _, err := run(t, m, "f", input, engine.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExpressions: what a script computes, as JSON.
func TestExpressions(t *testing.T) {
	tests := []struct{ name, expression, want string }{
		{"input", `args.name + args.list.length`, `"Zoë2"`},
		{"whole numbers", `args.big`, `9007199254740991`},
		{"nothing", `undefined`, ``},
		{"null", `null`, ``},
		{"false", `false`, `false`},
		{"a date", `new Date(0)`, `"1970-01-01T00:00:00.000Z"`},
		{"today is not long ago", `Date.now() > 1.7e12`, `true`},
		{"UTF-8", `[...new TextEncoder().encode("aä€😀")]`, `[97,195,164,226,130,172,240,159,152,128]`},
		{"half a surrogate pair", `[...new TextEncoder().encode("\ud83d")]`, `[239,191,189]`},
		{"encodeInto", `(b => [new TextEncoder().encodeInto("äb€", b), [...b]])(new Uint8Array(4))`, `[{"read":2,"written":3},[195,164,98,0]]`},
		{"decode", `new TextDecoder().decode(new Uint8Array([0xef,0xbb,0xbf,195,164,0xff,0xe2,0x82]))`, `"ä` + "\uFFFD\uFFFD" + `"`},
		{"decode fatal", `(() => { try { new TextDecoder("utf-8", {fatal: true}).decode(new Uint8Array([255])) } catch (e) { return e.name } })()`, `"TypeError"`},
		{"decode a part", `new TextDecoder().decode(new Uint8Array([97, 98, 99]).subarray(1))`, `"bc"`},
		{"base64", `[btoa("aÿ"), atob("Yf8=")]`, `["Yf8=","aÿ"]`},
		{"URL", `(u => (u.searchParams.append("q", "a b&ä"), u.port = "8080", [u.href, u.host, u.pathname, u.search, u.hash]))(new URL("../x y?z=1#h", "https://EXÄMPLE.com/a/b/c"))`,
			`["https://xn--exmple-cua.com:8080/a/x%20y?z=1&q=a+b%26%C3%A4#h","xn--exmple-cua.com:8080","/a/x%20y","?z=1&q=a+b%26%C3%A4","#h"]`},
		{"no URL", `[URL.canParse("x"), URL.canParse("x:y"), (() => { try { new URL("//") } catch (e) { return e.name } })()]`, `[false,true,"TypeError"]`},
		{"URL as JSON", `({u: new URL("http://a/b")})`, `{"u":"http://a/b"}`},
		{"search follows", `(u => { const p = u.searchParams; u.search = "?b=2"; return [p.get("b"), p.get("a"), p.size] })(new URL("http://a/?a=1"))`, `["2",null,1]`},
		{"params", `String(new URLSearchParams([["b", "1"], ["a", "~*'"], ["b", "3"]]))`, `"b=1&a=%7E*%27&b=3"`},
		{"params read", `[...new URLSearchParams("?a=1+2&a=%e4%F0%9F%98%80&c&=d%zz")]`, `[["a","1 2"],["a","` + "\uFFFD" + `😀"],["c",""],["","d%zz"]]`},
		{"structuredClone", `(o => { o.self = o; const c = structuredClone(o); return [c !== o, c.self === c, c.d.getTime(), [...c.m][0][1], c.s.has(2), c.b[1], c.e.message] })
			({d: new Date(5), m: new Map([[1, {x: 2}]]), s: new Set([2]), b: new Uint8Array([1, 2]), e: new RangeError("r")})`, `[true,true,5,{"x":2},true,2,"r"]`},
		{"structuredClone refuses", `(() => { try { structuredClone({f() {}}) } catch (e) { return e.name } })()`, `"DataCloneError"`},
		{"randomUUID", `/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`, `true`},
		{"getRandomValues", `crypto.getRandomValues(new Uint32Array(64)).some((x) => x > 2 ** 31)`, `true`},
		{"Math.random", `Array.from({length: 1000}, Math.random).every((x) => x >= 0 && x < 1)`, `true`},
		{"headers", `[...new Headers([["B", "1"], ["a", "2"], ["b", " 3 "]])]`, `[["a","2"],["b","1, 3"]]`},
		{"modern syntax", `(class { #x = [1, 2, 3].findLast((n) => n < 3); static { this.y = 1n } get x() { return this.#x ?? 0 } }, Object.groupBy([1, 2], (n) => n % 2 ? "odd" : "even"))`, `{"odd":[1],"even":[2]}`},
		{"no way out", `[typeof process, typeof require, typeof host, typeof Deno, typeof std, typeof os]`, `["undefined","undefined","undefined","undefined","undefined","undefined"]`},
		{"errors", `[new ValidationError("a") instanceof Error, new NotFoundError("b").type, String(new PermissionError("c", {type: "MyError"}))]`, `[true,"DoesNotExistError","MyError: c"]`},
		{"no bytes as text", `[btoa, atob].map((f) => { try { f("€") } catch (e) { return [e.name, e instanceof DOMException] } })`, `[["InvalidCharacterError",true],["InvalidCharacterError",true]]`},
		{"decode in parts", `(() => { try { new TextDecoder().decode(new Uint8Array(1), {stream: true}) } catch (e) { return e.name } })()`, `"TypeError"`},
		{"abort", `(() => { const c = new AbortController(), all = []; c.signal.addEventListener("abort", (e) => all.push(e.type, e.target === c.signal));
			c.signal.onabort = () => all.push("on"); const any = AbortSignal.any([new AbortController().signal, c.signal]);
			all.push(c.signal.aborted); c.abort(); c.abort("again"); return [...all, c.signal.aborted, c.signal.reason.name, any.aborted, any.reason === c.signal.reason] })()`, `[false,"on","abort",true,true,"AbortError",true,true]`},
		{"abort for a reason", `(() => { const s = AbortSignal.abort("why"); try { s.throwIfAborted() } catch (e) { return [e, s.reason] } })()`, `["why","why"]`},
		{"a timeout", `[AbortSignal.timeout(1e6).aborted, AbortSignal.timeout(0).reason.name, AbortSignal.any([AbortSignal.timeout(0)]).aborted]`, `[false,"TimeoutError",true]`},
		{"fetch that is aborted", `fetch("http://a/", {signal: AbortSignal.abort()}).catch((e) => [e.name, e instanceof DOMException])`, `["AbortError",true]`},
		{"fetch that is late", `fetch("http://a/", {signal: AbortSignal.timeout(0)}).catch((e) => e.name)`, `"TimeoutError"`},
		{"fetch of no redirect", `fetch("http://a/", {redirect: "manual"}).catch((e) => e.name)`, `"TypeError"`},
		{"fetch without a grant", `fetch("http://a/").catch((e) => [e.name, e instanceof PermissionError])`, `["PermissionError",true]`},
		{"a rejection handled later", `(async () => { const p = Promise.reject(new Error("x")); await null; try { await p } catch (e) { return e.message } })()`, `"x"`},
		{"rejections handled together", `Promise.allSettled([Promise.reject(1), 2]).then((all) => all.map((x) => x.status))`, `["rejected","fulfilled"]`},
		{"a promise", `Promise.resolve(7)`, `7`},
		{"a thenable", `({then(ok) { ok(8) }})`, `8`},
		{"behind promises", `new Promise((ok) => { let n = []; setTimeout(() => ok(n)); queueMicrotask(() => n.push(1)); Promise.resolve().then(() => n.push(2)) })`, `[1,2]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := script(t, "export function f(args) { return ("+tt.expression+") }", "f")
			if got := answer(t, m, `{"name": "Zoë", "list": [1, 2], "big": 9007199254740991}`); got != tt.want {
				t.Errorf("%s is %s, want %s", tt.expression, got, tt.want)
			}
		})
	}
}

// TestPristine: nothing of a call is there in the next one.
func TestPristine(t *testing.T) {
	m := script(t, `
		let n = 0;
		const kept = {};
		export async function f() {
			n++;
			kept.x = (kept.x ?? 0) + 1;
			Object.prototype.polluted = (Object.prototype.polluted ?? 0) + 1;
			Array.prototype.map = undefined;
			globalThis.left = (globalThis.left ?? 0) + 1;
			setTimeout(() => n++);
			return [n, kept.x, ({}).polluted, left, Math.random(), crypto.randomUUID(), performance.now() >= 0];
		}
		let early; try { early = Math.random(); } catch {} // would be cloned if it were seeded here
	`, "f")
	seen := map[string]bool{}
	for range 3 {
		var got []any
		if err := json.Unmarshal([]byte(answer(t, m, `{}`)), &got); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if got[i] != 1.0 {
				t.Errorf("state is left from another call: %v", got)
			}
		}
		for _, random := range got[4:6] {
			text, _ := json.Marshal(random)
			if seen[string(text)] {
				t.Errorf("%s was drawn twice", text)
			}
			seen[string(text)] = true
		}
	}
}

// TestFailures: whatever a script does, its call ends with a typed error, and the
// next one is in order.
func TestFailures(t *testing.T) {
	m := script(t, `
		const f = {
			unknown: () => nothing.at.all,
			text: () => { throw "a text" },
			object: () => { throw {a: 1} },
			nothing: () => { throw undefined },
			refused: () => { throw new ValidationError("too late", {type: "TooLateError"}) },
			hidden: () => { throw new ArmatureError("secret", {kind: 1}) },
			strange: () => { throw new ArmatureError("x", {kind: {}, type: "a b"}) },
			async later() { await null; throw new ConflictError("there is one") },
			timer: () => new Promise(() => setTimeout(() => { throw new RangeError("in a timer") })),
			wait: () => { setTimeout(() => {}, 5) },
			cycle() { const a = {}; a.a = a; return a },
			big: () => 1n,
			never: () => new Promise(() => {}),
			late: async () => { await Promise.reject(new TypeError("late")) },
			deep() { return f.deep() + 1 },
			memory() { const a = []; for (;;) a.push(new ArrayBuffer(1 << 20)) },
			loop() { for (;;); },
			caught() { for (;;) { try { for (;;); } catch {} finally { for (;;); } } },
			regexp: () => /(a*)*b/.test("a".repeat(5000)),
			jobs: async () => { for (;;) await null },
			timers: () => new Promise(() => { (function again() { setTimeout(again) })() }),
			sort: () => Array.from({length: 1e6}, (_, i) => -i).sort((a, b) => { for (;;); }),
			fill: () => { for (;;) new Uint8Array(1 << 20).fill(7) },
			host: () => doc.get("ToDo", "x"),
			getter: () => ({get a() { throw new Error("in a getter") }}),
			evil: () => { throw new Proxy(new Error("p"), {get() { throw 1 }}) },
			lost: () => { Promise.reject(new RangeError("nobody listens")); return 1 },
			behind: () => { (async () => { await null; throw new RangeError("behind the method") })(); return 1 },
			lostTimer: async () => { setTimeout(() => { throw new RangeError("in a late timer") }); return 1 },
			fine: () => "fine",
		};
		export function call({name}) { return f[name]() }
	`, "call")
	tests := []struct {
		name, kind, message string
	}{
		{"unknown", "ReferenceError", "nothing is not defined"},
		{"text", "PluginTrapError", "a text"},
		{"object", "PluginTrapError", `{"a":1}`},
		{"nothing", "PluginTrapError", "undefined"},
		{"refused", "TooLateError", "too late"},
		{"hidden", "InternalError", "Something went wrong in a plugin"},
		{"strange", "PluginTrapError", "x"},
		{"later", "DuplicateEntryError", "there is one"},
		{"timer", "RangeError", "in a timer"},
		{"wait", "RangeError", "a call cannot wait"},
		{"cycle", "TypeError", "circular"},
		{"big", "TypeError", "BigInt"},
		{"never", "PromiseNeverSettledError", "waits for a promise that nothing will settle"},
		{"late", "TypeError", "late"},
		{"deep", "RangeError", "call stack"},
		{"memory", "ResourceExhaustedError", "memory"},
		{"loop", "ResourceExhaustedError", "fuel"},
		{"caught", "ResourceExhaustedError", "fuel"},
		{"regexp", "ResourceExhaustedError", "fuel"},
		{"jobs", "ResourceExhaustedError", ""},
		{"timers", "ResourceExhaustedError", ""},
		{"sort", "ResourceExhaustedError", ""},
		{"fill", "ResourceExhaustedError", ""},
		{"host", "PermissionError", "is not granted doc_get"},
		{"getter", "Error", "in a getter"},
		{"lost", "RangeError", "nobody listens"},
		{"behind", "RangeError", "behind the method"},
		{"lostTimer", "RangeError", "in a late timer"},
		{"evil", "PluginTrapError", "cannot be shown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, usage, err := run(t, m, "call", `{"name": "`+tt.name+`"}`, engine.Limits{Memory: 16 << 20})
			var f *fault.Error
			if !errors.As(err, &f) {
				t.Fatalf("error %v", err)
			}
			if f.ExcType() != tt.kind || !strings.Contains(f.Message, tt.message) {
				t.Errorf("%s: %s, want %s: ... %s (%+v)", f.ExcType(), f.Message, tt.kind, tt.message, usage)
			}
			if out, _, err := run(t, m, "call", `{"name": "fine"}`, engine.Limits{}); err != nil || out != `"fine"` {
				t.Errorf("the next call: %s, %v", out, err)
			}
		})
	}
}

// TestWhereItWas: a call that the engine ends says which functions were running.
func TestWhereItWas(t *testing.T) {
	m := script(t, `
		function spin(list) {
			list.push(1);
			for (;;) list.at(0);
		}
		export function f() {
			spin([]);
		}`, "f")
	for range 2 {
		_, usage, err := run(t, m, "f", "{}", engine.Limits{Fuel: 20e6})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Exhausted || len(f.Trace) != 2 ||
			!strings.HasPrefix(f.Trace[0], "spin (script.js:") || !strings.HasPrefix(f.Trace[1], "f (script.js:7") {
			t.Errorf("error %v, trace %q", err, f.Trace)
		}
		if usage.Fuel < 20e6 || usage.Fuel > 21e6 {
			t.Errorf("the call is charged %d", usage.Fuel)
		}
	}
}

// TestCannotLoad: what is wrong with a script is said when it is loaded.
func TestCannotLoad(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"syntax", "export function f() {\n  return 1 +;\n}", "script.js:2:"},
		{"throws", "export function f() {}\nthrow new RangeError('at the top')", "RangeError: at the top"},
		{"not there", "export function g() {}", "the export f is missing"},
		{"no function", "export const f = {}", "the export f is no function but object"},
		{"imports", "import x from './x.js'; export function f() {}", "x.js"},
		{"never ready", "export function f() {}; await new Promise(() => {})", "will never come"},
		{"asks for documents", "export function f() {}; doc.get('ToDo', 'x')", "being loaded"},
		{"draws a name", "export function f() {}\nconst id = crypto.randomUUID();", "script.js:2:"},
		{"draws bytes", "export function f() {}; crypto.getRandomValues(new Uint8Array(1))", "crypto.getRandomValues() at the top level"},
		{"draws a number", "export function f() {}; Math.random()", "Math.random() at the top level"},
		{"endless", "export function f() {}; for (;;);", "out of fuel"},
		{"too large", "export function f() {}; const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))", "memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.script, "f")
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Validation || !strings.Contains(f.Message, tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestBinary compares the engine with what quickjs.md says of it.
func TestBinary(t *testing.T) {
	wasm, err := os.ReadFile("quickjs.wasm")
	if err != nil {
		t.Fatal(err)
	}
	about, err := os.ReadFile("quickjs.md")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(wasm)
	if !strings.Contains(string(about), "| SHA-256 of the file | `"+hex.EncodeToString(sum[:])+"` |") {
		t.Errorf("quickjs.wasm has the SHA-256 %x, quickjs.md says otherwise", sum)
	}
}
