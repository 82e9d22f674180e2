package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"armature/plugins/dispatch"
	"armature/plugins/logs"
	"armature/plugins/replay"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// TestRecord: a failed call of a real guest is kept and logged, and ends the same
// way when it is run again without the site.
func TestRecord(t *testing.T) {
	var kept []*replay.Call
	var out bytes.Buffer
	book := &logs.Book{}
	s := newSiteWith(t, func(c *dispatch.Config) {
		c.Logger, c.Logs = slog.New(slog.NewJSONHandler(&out, nil)), book
		c.Record = func() bool { return true }
		c.Failed = func(c *replay.Call) { kept = append(kept, c) }
	}).with(misbehave)
	name := s.mustInsert("ToDo", m{"description": "untouched"})
	if _, err := s.run("POST", "acme.misbehave.fail", m{"name": name, "message": "no", "api_secret": "hunter2-hunter2"}); err == nil {
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
	if strings.Contains(string(text), "hunter2") || !kept[0].Masked {
		t.Errorf("the record holds a secret: %s", text)
	}
	var again replay.Call
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	// A panic makes the guest print what its memory looks like, and loop over
	// what its seeds have put in order.
	if _, err := s.run("POST", "acme.misbehave.trap", m{}); err == nil || len(kept) != 2 {
		t.Fatalf("%v, kept %d", err, len(kept))
	}

	// Another engine is what another process is: nothing but the record is shared.
	e, err := engine.New(t.Context(), engine.Config{
		Imports: hostapi.Imports(hostapi.Config{}), CacheDir: cacheDir(t), Birth: again.Birth,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	module := loadGuest(t, e, misbehave)
	defer module.Release()
	for _, c := range []*replay.Call{&again, kept[1]} {
		if got := c.Again(t.Context(), module); !got.Same(c.Outcome) {
			t.Errorf("%s ended with %+v, it was %+v", c.Method, got, c.Outcome)
		}
	}
	kept = kept[:1]

	// A call that succeeds is not kept.
	if _, err := s.run("POST", "acme.misbehave.remember", nil); err != nil || len(kept) != 1 {
		t.Errorf("%v, kept %d", err, len(kept))
	}
	lines := book.Lines("acme.misbehave", 100)
	if len(lines) == 0 || !strings.Contains(string(lines[0]), `"method":"acme.misbehave.fail"`) || !strings.Contains(out.String(), "plugin call failed") {
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
