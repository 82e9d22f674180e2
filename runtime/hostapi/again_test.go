package hostapi_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"armature/core/fault"
	"armature/core/store"
	"armature/core/store/pgproxy"
	"armature/plugins/kv"
	"armature/runtime/hostapi"
)

// loser is a site whose next commits meet the fates given.
type loser struct {
	*site
	fates atomic.Pointer[[]pgproxy.Fate]
	log   bytes.Buffer
	kept  *kv.Site
}

func newLoser(t *testing.T) *loser {
	t.Helper()
	url := os.Getenv("ARMATURE_TEST_POSTGRES")
	if url == "" && os.Getenv("CI") == "true" {
		t.Fatal("ARMATURE_TEST_POSTGRES is not set, and CI must test PostgreSQL")
	}
	if url == "" {
		t.Skip("races are lost on PostgreSQL alone: set ARMATURE_TEST_POSTGRES")
	}
	l := &loser{kept: kv.NewMemory(kv.Config{}).Site()}
	p, err := pgproxy.Listen(url, pgproxy.Faults{Commit: l.fate})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	schema := fmt.Sprintf("again_%d_%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), url)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close(context.Background()) }()
		if _, err := c.Exec(context.Background(), "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	st, err := store.OpenPostgres(t.Context(), p.URL, schema, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.site = newSiteOn(t, st)
	l.plugin.KV = l.kept
	l.plugin.Logger = slog.New(slog.NewTextHandler(&l.log, nil))
	return l
}

func (l *loser) fate() pgproxy.Fate {
	fates := l.fates.Load()
	if fates == nil || len(*fates) == 0 {
		return pgproxy.Pass
	}
	rest := (*fates)[1:]
	l.fates.Store(&rest)
	return (*fates)[0]
}

func (l *loser) meet(fates ...pgproxy.Fate) {
	l.fates.Store(&fates)
	l.ran = nil
}

// work is what a guest does that could leave traces.
var work = []step{
	{Import: "random", Room: 16},
	ask("kv_get", m{"key": "seen"}),
	ask("kv_set", m{"key": "seen", "value": "once"}),
	ask("kv_get", m{"key": "seen"}),
	ask("kv_delete", m{"key": "old"}),
	{Import: "log", Kind: 1, Request: "hello"},
	ask("doc_insert", m{"doctype": "ToDo", "doc": m{"description": "made"}}),
	{Import: "random", Room: 16},
}

// TestLostRunsLeaveNoTrace: a guest whose transaction lost a race is run again as
// if for the first time, and of the lost run nothing is left.
func TestLostRunsLeaveNoTrace(t *testing.T) {
	l := newLoser(t)
	if err := l.kept.Set("t.guest", "old", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	l.meet(pgproxy.Lose, pgproxy.Lose, pgproxy.Pass)
	l.post(work...)
	if len(l.ran) != 3 {
		t.Fatalf("%d runs", len(l.ran))
	}
	for _, output := range l.ran[1:] {
		// The names that the host draws for documents may differ.
		if got, want := told(output), told(l.ran[0]); got != want {
			t.Errorf("a run again was told\n%s\nthe first\n%s", got, want)
		}
	}
	if n := strings.Count(l.log.String(), "hello"); n != 1 {
		t.Errorf("the line is there %d times", n)
	}
	if v, _ := l.kept.Get("t.guest", "seen"); string(v) != `"once"` {
		t.Errorf("kept %q", v)
	}
	if _, ok := l.kept.Get("t.guest", "old"); ok {
		t.Error("what was deleted is there")
	}
	if n := l.count(t); n != 1 {
		t.Errorf("%d documents", n)
	}
}

// told is what the guest was told by all imports but doc_insert.
func told(output string) string {
	parts := strings.Split(output, `{"result"`)
	return strings.Join(append(parts[:len(parts)-2:len(parts)-2], parts[len(parts)-1]), "\n")
}

func (l *loser) count(t *testing.T) int {
	t.Helper()
	a := l.post(ask("doc_count", m{"doctype": "ToDo"}))
	var n int
	if _, err := fmt.Sscan(a[0].Out, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestUnknownCommitsAreNotRepeated: whether a commit was done whose answer is lost
// nobody knows, so it is not done again.
func TestUnknownCommitsAreNotRepeated(t *testing.T) {
	for _, fate := range []pgproxy.Fate{pgproxy.Before, pgproxy.After} {
		l := newLoser(t)
		l.meet(fate)
		if _, err := l.try("POST", work...); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "not known") {
			t.Errorf("fate %d: %v", fate, err)
		}
		want := 0
		if fate == pgproxy.After {
			want = 1
		}
		if runs := len(l.ran); runs != 1 || l.count(t) != want {
			t.Errorf("fate %d: %d runs, %d documents", fate, runs, l.count(t))
		}
	}
}

// TestNotAgainAfterHTTP: what a guest has asked of another server cannot be undone,
// so its call is not run again.
func TestNotAgainAfterHTTP(t *testing.T) {
	l := newLoser(t)
	var asked atomic.Int64
	l.plugin.Fetch = func(context.Context, *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		asked.Add(1)
		return &hostapi.HTTPResponse{Status: 200}, nil
	}
	l.meet(pgproxy.Lose)
	steps := append([]step{ask("http_fetch", m{"url": "http://example.com/"})}, work...)
	if _, err := l.try("POST", steps...); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if asked.Load() != 1 || len(l.ran) != 1 {
		t.Errorf("asked %d times in %d runs", asked.Load(), len(l.ran))
	}
	if n := l.count(t); n != 0 {
		t.Errorf("%d documents", n)
	}
}
