package extism_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
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
	"armature/runtime/extism"
	"armature/runtime/hostapi"
	"armature/runtime/wasmtest"
)

// bench loads plugins and calls them without a site.
type bench struct {
	t      *testing.T
	engine *engine.Engine
	module *engine.Module
	plugin hostapi.Plugin
	limits engine.Limits
	log    bytes.Buffer
	verb   string
	usage  engine.Usage
}

func start(t *testing.T, wasm []byte) *bench {
	t.Helper()
	b := &bench{t: t, verb: "POST", limits: engine.Limits{Memory: 4 << 20, Fuel: 40_000_000, Wall: time.Minute}}
	var err error
	b.engine, err = engine.New(t.Context(), engine.Config{
		Imports: hostapi.Imports(hostapi.Config{}), Dialects: []engine.Dialect{extism.New(nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.engine.Close(context.Background()) })
	if b.module, err = b.engine.Load(t.Context(), wasm); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.module.Release)
	b.plugin = hostapi.Plugin{
		Site: "one", Name: "t.extism", Limits: hostapi.DefaultLimits, Logger: slog.New(slog.NewJSONHandler(&b.log, nil)),
	}
	return b
}

func guest(t *testing.T) *bench {
	t.Helper()
	text, err := os.ReadFile("testdata/guest.wat")
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := wasmtest.Assemble(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return start(t, wasm)
}

func (b *bench) call(export, input string) (string, error) {
	b.t.Helper()
	st := hostapi.New(&b.plugin, &method.Call{Verb: b.verb, Caller: identity.Root()}, []byte(input))
	defer st.Free()
	var err error
	b.usage, err = st.Run(b.t.Context(), b.module, export, b.limits)
	return string(st.Output()), err
}

// want calls an export that must succeed.
func (b *bench) want(export, input, output string) {
	b.t.Helper()
	got, err := b.call(export, input)
	if err != nil {
		b.t.Errorf("%s: %v", export, err)
	} else if got != output {
		b.t.Errorf("%s answers %q, want %q", export, got, output)
	}
}

// fails calls an export that must fail, and then one that must not.
func (b *bench) fails(export, input string, kind fault.Kind, words string) {
	b.t.Helper()
	_, err := b.call(export, input)
	var f *fault.Error
	switch {
	case !errors.As(err, &f):
		b.t.Errorf("%s: %v, want a fault", export, err)
	case f.Kind != kind || !strings.Contains(f.Message, words):
		b.t.Errorf("%s: kind %d, %q; want %d and %q", export, f.Kind, f.Message, kind, words)
	}
	b.want("echo", `{"still":"well"}`, `{"still":"well"}`)
	b.want("count", "", "3")
}

func TestInputAndOutput(t *testing.T) {
	b := guest(t)
	if b.module.Dialect() != "extism" {
		t.Errorf("dialect %q", b.module.Dialect())
	}
	if ok, reason := b.module.Pristine(); !ok {
		t.Errorf("calls do not start from the snapshot: %s", reason)
	}
	for _, text := range []string{`{"a":1}`, `[1,2,3,4,5,6,7]`, `12`, `"x"`, `null`} {
		b.want("echo", text, text)
		b.want("by_offset", text, text)
	}
	b.want("echo", "Zoë says \"hello\"", "Zoë says \"hello\"")
	b.want("echo", "", "")
	b.want("by_offset", "", "")
	b.want("nothing", "x", "")
	b.want("silent", "x", "")
	b.want("past_the_end", "", "5555")
	b.want("lengths", "", "")
	b.want("change_mind", "never mind", "")
	b.want("error_unset", "", "")
}

func TestErrors(t *testing.T) {
	b := guest(t)
	b.fails("refuse", "not on a Sunday", fault.Validation, "not on a Sunday")
	b.fails("refuse_with_zero", "not on a Sunday", fault.Validation, "not on a Sunday")
	b.fails("code", "", fault.Validation, "code returned 7")
	b.fails("die_saying", "out of ideas", fault.Trap, "out of ideas")
	b.fails("throw", `{"kind":5,"exc_type":"LostError","message":"gone"}`, fault.NotFound, "gone")
	b.fails("throw", `{"kind":99}`, fault.Trap, "no error kind 99")
	b.fails("throw", `gone`, fault.Trap, "JSON object with kind")
	b.want("not_json", "", "\xff")
}

func TestLies(t *testing.T) {
	b := guest(t)
	for _, export := range []string{
		"load_null", "load_far", "load_negative", "load_wrapping", "store_null", "store_far", "store_page", "store_on",
		"output_negative", "output_far", "output_long", "error_far", "error_inside", "input_far", "input_behind",
		"key_far", "ask_far", "log_far",
	} {
		b.fails(export, "0123456789", fault.Trap, "bad pointer")
	}
}

func TestGreed(t *testing.T) {
	b := guest(t)
	b.want("alloc_all", "", "")
	if b.usage.MemoryPeak > b.limits.Memory || b.usage.MemoryPeak < b.limits.Memory/2 {
		t.Errorf("memory peak %d of %d", b.usage.MemoryPeak, b.limits.Memory)
	}
	b.want("echo", "", "")
	if !b.usage.Fresh {
		t.Error("an instance is kept that has grown to its limit")
	}
	b.want("alloc_small", "", "")
	b.want("alloc_huge", "", "")
	b.want("churn", "", "")
	b.fails("grow_beside", "", fault.Validation, "returned -1") // memory.grow gives that
	b.fails("reset_and_grow", "", fault.Validation, "returned -1")
	b.want("reset_and_again", "", "")
	b.fails("long_key", "", fault.BadRequest, "a key has at most 4096 bytes")
	b.fails("long_variable", "", fault.BadRequest, "a key has at most 4096 bytes")
	b.fails("recall_for_ever", "", fault.Exhausted, "out of fuel")
	b.fails("alloc_and_trust", "", fault.Exhausted, "out of memory")
	b.fails("alloc_and_die", "", fault.Exhausted, "out of memory")
	b.fails("alloc_for_ever", "", fault.Exhausted, "out of fuel")
	b.fails("ask_for_ever", "", fault.Exhausted, "too many host calls")
	b.fails("by_offset", strings.Repeat("x", 5<<20), fault.Exhausted, "no memory left for 5242880 bytes")
}

// TestPristine: nothing that a call does to the kernel's memory is there in the
// next one, and what was there before the snapshot is.
func TestPristine(t *testing.T) {
	b := guest(t)
	for range 3 {
		b.want("count", "", "3")
		b.want("dirty", "", "")
		b.want("free_kept", "", "")
		b.want("reset", "x", "")
		b.want("write_across", "", "")
		b.want("read_across", "", "")
		if _, err := b.call("alloc_all", ""); err != nil {
			t.Error(err)
		}
	}
}

func TestSettings(t *testing.T) {
	b := guest(t)
	b.plugin.Config = func(_ context.Context, key string) (json.RawMessage, error) {
		switch key {
		case "text":
			return json.RawMessage(`"Zo\u00eb"`), nil
		case "number":
			return json.RawMessage(`12`), nil
		}
		return nil, nil
	}
	b.want("setting", "text", "Zoë")
	b.want("setting", "number", "12")
	b.want("setting", "absent", "")
	b.want("setting", "", "")
}

func TestLog(t *testing.T) {
	b := guest(t)
	b.fails("warn", "mind the step", fault.Validation, "returned 1") // which is the level
	if line := b.log.String(); !strings.Contains(line, `"level":"WARN"`) || !strings.Contains(line, "mind the step") ||
		!strings.Contains(line, "t.extism") {
		t.Errorf("the log has %s", line)
	}
}

func TestDocumentAPI(t *testing.T) {
	b := guest(t)
	if who, err := b.call("who", ""); err != nil || !strings.HasPrefix(who, `{"data":{"user":"Administrator",`) {
		t.Errorf("who: %s, %v", who, err)
	}
	b.want("get", `{"doctype":"ToDo","name":"T1"}`,
		`{"error":{"kind":4,"exc_type":"PermissionError","message":"The plugin t.extism is not granted doc_get on this site: add doc_get to grants in its manifest, and approve it where it waits"}}`)
	b.plugin.Grants = hostapi.Grant("doc_get")
	b.want("get", `{"doctype":`,
		`{"error":{"kind":12,"exc_type":"BadRequestError","message":"doc_get: the request is not the JSON it should be: unexpected EOF"}}`)
}

// kv is a store in memory.
type kv map[string][]byte

func (s kv) Begin(string) hostapi.KVRun    { return s }
func (s kv) Get(key string) ([]byte, bool) { v, ok := s[key]; return v, ok }
func (s kv) Set(key string, value []byte, _ time.Duration) error {
	s[key] = bytes.Clone(value)
	return nil
}
func (s kv) Delete(key string) { delete(s, key) }
func (s kv) Keep()             {}

// TestVariables: they live as long as the call, or with the grants for the
// plugin's store as long as that.
func TestVariables(t *testing.T) {
	b := guest(t)
	store := kv{}
	b.plugin.KV = store
	b.want("remember", "one", "one")
	b.want("recall", "one", "")
	b.plugin.Grants = hostapi.Grant("kv_get", "kv_set", "kv_delete")
	b.want("remember", "two", "two")
	b.want("recall", "two", "two")
	b.want("recall", "one", "")
	b.want("forget", "two", "")
	b.want("recall", "two", "")
	if len(store) != 0 {
		t.Errorf("the store has %v", store)
	}
	b.verb = "GET"
	b.want("remember", "three", "three")
	b.want("recall", "three", "")
	b.fails("remember", strings.Repeat("k", 300), fault.BadRequest, "key has 1 to 255 bytes")
}

// TestReplay: a call that is repeated goes the same way, to the instruction.
func TestReplay(t *testing.T) {
	b := guest(t)
	b.plugin.KV = kv{}
	for _, c := range []struct{ export, input string }{{"remember", "x"}, {"get", `{"doctype":"ToDo","name":"T1"}`}, {"who", ""}} {
		tape := &hostapi.Tape{}
		st := hostapi.New(&b.plugin, &method.Call{Verb: "POST", Caller: identity.Root()}, []byte(c.input))
		st.Record(tape)
		usage, err := st.Run(t.Context(), b.module, c.export, b.limits)
		output := string(st.Output())
		st.Free()
		if err != nil {
			t.Fatal(err)
		}
		again, repeated, err := hostapi.Rerun(t.Context(), b.module, c.export, []byte(c.input), b.limits, hostapi.DefaultLimits, tape)
		if err != nil || string(again) != output || repeated.Fuel != usage.Fuel {
			t.Errorf("%s: %q after %d, then %q after %d: %v", c.export, output, usage.Fuel, again, repeated.Fuel, err)
		}
	}
}

// TestFresh: a module whose tables change has no snapshot; each call makes an
// instance, and a kernel, of its own.
func TestFresh(t *testing.T) {
	wasm, err := wasmtest.Assemble(`(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "load_u8" (func $load (param i64) (result i32)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (memory (export "memory") 1)
  (table 1 funcref)
  (global $kept (mut i64) (i64.const 0))
  (func (export "__wasm_call_ctors") (global.set $kept (call $alloc (i64.const 1))) (call $store (global.get $kept) (i32.const 48)))
  (func (export "count") (result i32)
    (table.set 0 (i32.const 0) (ref.null func))
    (call $store (global.get $kept) (i32.add (i32.const 1) (call $load (global.get $kept))))
    (call $output (global.get $kept) (i64.const 1)) (i32.const 0)))`)
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, wasm)
	if ok, _ := b.module.Pristine(); ok {
		t.Error("it has a snapshot")
	}
	for range 3 {
		b.want("count", "", "1")
	}
}

// TestTogether: calls at the same time have kernels of their own.
func TestTogether(t *testing.T) {
	b := guest(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := strings.Repeat(string(rune('a'+i)), 1000+i)
			for range 50 {
				st := hostapi.New(&b.plugin, &method.Call{Verb: "POST", Caller: identity.Root()}, []byte(text))
				if _, err := st.Run(t.Context(), b.module, "echo", b.limits); err != nil || string(st.Output()) != text {
					t.Errorf("%.20s answers %.20s: %v", text, st.Output(), err)
				}
				st.Free()
			}
		})
	}
	all.Wait()
}

// TestBounds: what passes between guest and host is bounded as everybody's.
func TestBounds(t *testing.T) {
	b := guest(t)
	b.plugin.Limits = hostapi.Limits{Input: 1 << 10, Output: 100, Log: 1 << 10, HTTP: 1}
	b.fails("echo", strings.Repeat("x", 101), fault.Exhausted, "over 100 bytes")
	b.fails("who", "", fault.Exhausted, "over 100 bytes") // the answer, as output
	b.fails("get", strings.Repeat("x", 101), fault.Exhausted, "the request is over 100 bytes")
	b.limits.Memory = 64 << 10 // what the module has before it begins
	if _, err := b.call("count", ""); fault.KindOf(err) != fault.Exhausted {
		t.Errorf("a call without memory for what the plugin keeps: %v", err)
	}
}

// TestLoading: what is wrong with a module is said when it is loaded.
func TestLoading(t *testing.T) {
	b := guest(t)
	for text, words := range map[string]string{
		`(module (import "extism:host/env" "end8" (func)))`:                                                                       "extism:host/env.end8 is not offered",
		`(module (import "extism:host/user" "mult" (func (param i64) (result i64))))`:                                             "extism:host/user.mult is not offered",
		`(module (import "extism:host/env" "alloc" (func (param i32) (result i32))))`:                                             "extism:host/env.alloc has another signature",
		`(module (import "extism:host/env" "alloc" (func (param i64) (result i64))) (func (export "_initialize") (unreachable)))`: "fails to initialise",
		`(module (import "extism:host/env" "config_get" (func $c (param i64) (result i64))) (import "extism:host/env" "alloc" (func $a (param i64) (result i64)))
			(func (export "_initialize") (drop (call $c (call $a (i64.const 1))))))`: "being loaded",
	} {
		wasm, err := wasmtest.Assemble(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.engine.Load(t.Context(), wasm); fault.KindOf(err) != fault.Validation || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDocumented: the description names every import.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../sdk/abi/extism.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range extism.New(nil).Imports() {
		if im.Module == abi.ExtismEnv && !strings.Contains(string(text), "`"+im.Name+"`") {
			t.Errorf("extism.md has no %s", im.Name)
		}
	}
}

// TestWindow: what tells a window how far it may go is no plugin's to import.
func TestWindow(t *testing.T) {
	b := guest(t)
	for name, kind := range map[string]string{"memory": "\x02\x00\x01", "end8": "\x03\x7e\x01"} {
		im := "\x01\x0fextism:host/env" + string(rune(len(name))) + name + kind
		wasm := "\x00asm\x01\x00\x00\x00\x02" + string(rune(len(im))) + im
		_, err := b.engine.Load(t.Context(), []byte(wasm))
		if err == nil || !strings.Contains(err.Error(), "only functions can be imported") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEdges: an access at the edge of what the window does by itself ends as the
// kernel would have it. The memory has a block from before the snapshot, the input,
// and what a call takes; it reaches to the end of its page.
func TestEdges(t *testing.T) {
	b := guest(t)
	const first, page = 1 << 16, 64 << 10
	word := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	for _, at := range []uint64{
		0, 1, first - 9, first - 8, first - 7, first - 1, first, first + 1, first + 7, first + 8, first + 15, first + 16, first + 17,
		first + 40, first + 47, first + 48, first + 63, first + 64, first + 1000, first + page - 9, first + page - 8, first + page - 7, first + page - 1,
		first + page, first + page + 1, 1<<32 - 1, 1 << 32, first + 1<<32, 1<<63 - 1, 1 << 63, 1<<64 - 8, 1<<64 - 1,
	} {
		_, err := b.call("load_at", word(at))
		if inside := at >= first && at <= first+page-8; inside != (err == nil) {
			t.Errorf("eight bytes at %#x: %v", at, err)
		}
		_, err = b.call("load_byte_at", word(at))
		if inside := at >= first && at < first+page; inside != (err == nil) {
			t.Errorf("a byte at %#x: %v", at, err)
		}
		got, err := b.call("store_at", word(at)+"12345678")
		switch inside := at >= first && at <= first+page-8; {
		case at > first+8 && at < first+24: // where the input lies that says where
		case inside != (err == nil):
			t.Errorf("a store at %#x: %v", at, err)
		case inside && got != "12345678":
			t.Errorf("at %#x is %q after a store", at, got)
		}
		b.want("count", "", "3")
	}
	text := word(10) + "0123456789"
	for at, want := range map[uint64]string{
		8: "01234567", 10: "23456789", 11: "3456789\x00", 17: "9\x00\x00\x00\x00\x00\x00\x00",
	} {
		b.want("input_at", word(at)+text[8:], want)
	}
	for _, at := range []uint64{18, 19, 1 << 32, 1<<64 - 8} {
		b.fails("input_at", word(at)+text[8:], fault.Trap, "bad pointer")
	}
}
