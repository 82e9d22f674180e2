package dispatch_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"armature/plugins/dispatch"
	"armature/plugins/logs"
	"armature/plugins/replay"
	"armature/runtime/engine"
)

// TestRecord: a failed call of a real guest is kept and logged, and ends the same
// way when it is run again without the site.
func TestRecord(t *testing.T) {
	var kept []*replay.Call
	var out bytes.Buffer
	book := &logs.Book{}
	s := newSiteWith(t, func(c *dispatch.Config) {
		c.Logger, c.Logs = slog.New(slog.NewJSONHandler(&out, nil)), book
		c.Record = func(string) bool { return true }
		c.Failed = func(c *replay.Call) { kept = append(kept, c) }
	}).with(misbehave)
	name := s.mustInsert("ToDo", m{"description": "untouched"})
	if _, err := s.run("POST", "acme.misbehave.fail", m{"name": name, "message": "no"}); err == nil {
		t.Fatal("no error")
	}
	if len(kept) != 1 || kept[0].Method != "acme.misbehave.fail" || kept[0].User != "Administrator" || kept[0].Outcome.Message != "no" {
		t.Fatalf("kept %+v", kept)
	}
	if len(kept[0].Tape.Answers) == 0 {
		t.Error("the tape is empty")
	}
	text, err := json.Marshal(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	var again replay.Call
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	e, err := eng()
	if err != nil {
		t.Fatal(err)
	}
	module := loadGuest(t, e, misbehave)
	defer module.Release()
	if got := again.Again(t.Context(), module); !got.Same(kept[0].Outcome) {
		t.Errorf("it ended with %+v, it was %+v", got, kept[0].Outcome)
	}

	// A call that succeeds is not kept.
	if _, err := s.run("POST", "acme.misbehave.remember", nil); err != nil || len(kept) != 1 {
		t.Errorf("%v, kept %d", err, len(kept))
	}
	lines := book.Lines("one", "acme.misbehave", 10)
	if len(lines) == 0 || !strings.Contains(string(lines[len(lines)-1]), `"method":"acme.misbehave.fail"`) || !strings.Contains(out.String(), "plugin call failed") {
		t.Errorf("logged %s", lines)
	}
}

func loadGuest(t *testing.T, e *engine.Engine, dir string) *engine.Module {
	t.Helper()
	module, err := e.Load(t.Context(), parsed(t, dir).Module)
	if err != nil {
		t.Fatal(err)
	}
	return module
}
