package engine_test

import (
	"errors"
	"testing"

	"armature/core/fault"
	"armature/runtime/engine"
)

func TestGoGuest(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGoGuest(t))
	want := `{"ok":true,"data":` + string(document) + "}"
	for range 3 {
		x := &exchange{in: request}
		usage, err := m.Call(t.Context(), &engine.Call{Export: "echo", Arg: int32(len(request)), State: x})
		if err != nil {
			t.Fatal(err)
		}
		if string(x.out) != want {
			t.Fatalf("output %q", x.out)
		}
		if usage.HostCalls != 3 || usage.MemoryPeak == 0 {
			t.Errorf("usage %+v", usage)
		}
		c := &engine.Call{Export: "count"}
		if _, err := m.Call(t.Context(), c); err != nil || c.Result != 1 {
			t.Fatalf("count %d, %v", c.Result, err)
		}
	}

	var printed []string
	c := &engine.Call{Export: "print", Arg: 7, OnOutput: func(_ *engine.Call, _ bool, line []byte) { printed = append(printed, string(line)) }}
	if _, err := m.Call(t.Context(), c); err != nil || len(printed) != 2 || printed[0] != "hello 7" || printed[1] != "no newline" {
		t.Errorf("printed %q, %v", printed, err)
	}

	_, err := m.Call(t.Context(), &engine.Call{Export: "boom"})
	var e *engine.Error
	var f *fault.Error
	if !errors.As(err, &e) || !errors.As(err, &f) || f.Kind != fault.Trap {
		t.Fatalf("boom: %v", err)
	}
	t.Log(e.Reason, e.Detail, e.Stack)
}
