package extism_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
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
	b.want("alloc_small", "", "")
	b.want("alloc_huge", "", "")
	b.want("churn", "", "")
	b.fails("grow_beside", "", fault.Validation, "returned -1") // memory.grow gives that
	b.fails("alloc_and_trust", "", fault.Exhausted, "out of memory")
	b.fails("alloc_and_die", "", fault.Exhausted, "out of memory")
	b.fails("alloc_for_ever", "", fault.Exhausted, "out of fuel")
	b.fails("ask_for_ever", "", fault.Exhausted, "too many host calls")
	b.fails("by_offset", strings.Repeat("x", 5<<20), fault.Exhausted, "no memory left for an answer")
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
		`{"error":{"kind":4,"exc_type":"PermissionError","message":"The plugin t.extism is not granted doc_get on this site"}}`)
	b.plugin.Grants = hostapi.Grant("doc_get")
	b.want("get", `{"doctype":`,
		`{"error":{"kind":12,"exc_type":"BadRequestError","message":"doc_get: the request is not the JSON it should be: unexpected EOF"}}`)
}

// kv is a store in memory.
type kv map[string][]byte

func (s kv) Get(_, _, key string) ([]byte, bool) { v, ok := s[key]; return v, ok }
func (s kv) Set(_, _, key string, value []byte, _ time.Duration) error {
	s[key] = bytes.Clone(value)
	return nil
}
func (s kv) Delete(_, _, key string) { delete(s, key) }

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
