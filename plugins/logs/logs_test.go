package logs_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"armature/plugins/logs"
)

func TestBook(t *testing.T) {
	var out bytes.Buffer
	var b logs.Book
	one := b.Logger("acme.a", slog.New(slog.NewTextHandler(&out, nil)))
	one.Info("hello", "n", 1)
	one.Debug("quiet")
	b.Logger("acme.b", nil).Warn("elsewhere")
	lines := b.Lines("acme.a", 10)
	if len(lines) != 1 || !strings.Contains(string(lines[0]), `"msg":"hello","n":1}`) || !json.Valid(lines[0]) {
		t.Errorf("lines %s", lines)
	}
	if !strings.Contains(out.String(), "msg=hello n=1") {
		t.Errorf("handed on %q", &out)
	}
	changed := map[string]int{}
	count := func(plugin string, lines []json.RawMessage) { changed[plugin] += len(lines) }
	b.Changed(count)
	b.Changed(count)
	if changed["acme.a"] != 1 {
		t.Errorf("changed %v", changed)
	}
	for range 2000 {
		one.Info(strings.Repeat("x", 100))
	}
	if n := len(b.Lines("acme.a", 10_000)); n == 0 || n > 500 {
		t.Errorf("%d lines are kept", n)
	}
	one.Info(strings.Repeat("x", 300<<10))
	if n := len(b.Lines("acme.a", 10_000)); n != 1 {
		t.Errorf("%d lines are kept beside a huge one", n)
	}
}
