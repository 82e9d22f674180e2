package accesslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/accesslog"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 123_456_789, time.UTC)

func entry() *accesslog.Entry {
	return &accesslog.Entry{
		Time: noon, ID: "01J", Site: "default", User: "ann@example.com", From: "192.0.2.1", Method: "GET", Path: "/api/resource/ToDo",
		Status: 200, Bytes: 321, Took: 1234 * time.Microsecond, Processing: 567 * time.Microsecond, Client: "c1",
	}
}

// line is what slog would write of an entry.
func line(h slog.Handler, e *accesslog.Entry) {
	r := slog.NewRecord(e.Time, slog.LevelInfo, "request", 0)
	r.Add("id", e.ID, "site", e.Site, "user", e.User, "from", e.From, "method", e.Method, "path", e.Path, "status", e.Status,
		"bytes", e.Bytes, "duration_us", e.Took.Microseconds(), "processing_us", e.Processing.Microseconds())
	if e.Client != "" {
		r.Add("client", e.Client)
	}
	_ = h.Handle(context.Background(), r)
}

func FuzzLineIsSlogs(f *testing.F) {
	for _, s := range []string{"", "/a b", "a=b", `q"q`, `back\slash`, "new\nline", "ü", " ", "\xff", "\x7f", "😀", "<&>", "\u202e"} {
		f.Add(s, s, 1)
	}
	f.Fuzz(func(t *testing.T, path, client string, n int) {
		e := entry()
		e.Path, e.User, e.Client, e.Status, e.Bytes, e.Took = path, client, client, n, int64(n), time.Duration(n)
		var got, want bytes.Buffer
		l := accesslog.New(&got, accesslog.Text)
		l.Write(e)
		l.Close()
		line(slog.NewTextHandler(&want, nil), e)
		if got.String() != want.String() {
			t.Errorf("text:\n%sslog:\n%s", got.String(), want.String())
		}
		got.Reset()
		want.Reset()
		l = accesslog.New(&got, accesslog.JSON)
		l.Write(e)
		l.Close()
		line(slog.NewJSONHandler(&want, nil), e)
		if a, b := values(t, got.Bytes()), values(t, want.Bytes()); !reflect.DeepEqual(a, b) {
			t.Errorf("JSON:\n%sslog:\n%s", got.String(), want.String())
		}
		if n := strings.Count(got.String(), "\n"); n != 1 {
			t.Errorf("%d lines: %s", n, got.String())
		}
	})
}

func values(t *testing.T, text []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// writes keeps every write by itself.
type writes struct {
	mu   sync.Mutex
	list []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, string(p))
	return len(p), nil
}

func (w *writes) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.list)
}

func TestEntriesAreWrittenTogetherAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w writes
		l := accesslog.New(&w, accesslog.Text)
		defer l.Close()
		for range 3 {
			l.Write(entry())
		}
		if n := w.count(); n != 0 {
			t.Fatalf("%d writes at once", n)
		}
		time.Sleep(101 * time.Millisecond)
		synctest.Wait()
		if w.count() != 1 || strings.Count(w.list[0], "\n") != 3 {
			t.Fatalf("after a tenth of a second: %q", w.list)
		}
		for w.count() == 1 {
			l.Write(entry())
		}
		if len(w.list[1]) > 64<<10 {
			t.Errorf("%d bytes were kept back", len(w.list[1]))
		}
	})
}

func TestTheLogKeepsItsOrder(t *testing.T) {
	var w bytes.Buffer
	l := accesslog.New(&w, accesslog.Text)
	e := entry()
	l.Write(e)
	fmt.Fprintln(l.Beside(), "an error")
	l.Write(e)
	l.Close()
	l.Write(e)
	lines := strings.Split(w.String(), "\n")
	if len(lines) != 5 || lines[1] != "an error" || lines[0] != lines[2] || lines[3] != lines[0] {
		t.Errorf("%q", lines)
	}
}

func TestNothingIsLostAmongMany(t *testing.T) {
	var w writes
	l := accesslog.New(&w, accesslog.Text)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 500 {
				l.Write(entry())
			}
			fmt.Fprintln(l.Beside(), "done")
		})
	}
	all.Wait()
	l.Close()
	text := strings.Join(w.list, "")
	if n, m := strings.Count(text, "msg=request"), strings.Count(text, "done"); n != 4000 || m != 8 {
		t.Errorf("%d entries and %d others", n, m)
	}
}

func BenchmarkEntry(b *testing.B) {
	for _, c := range []struct {
		name  string
		write func(*accesslog.Entry)
	}{
		{"ours", accesslog.New(nowhere{}, accesslog.Text).Write},
		{"slog", func(e *accesslog.Entry) { line(slog.NewTextHandler(nowhere{}, nil), e) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			e := entry()
			for b.Loop() {
				c.write(e)
			}
		})
	}
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
