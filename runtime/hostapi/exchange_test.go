package hostapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/method"
	"armature/runtime/abi"
	"armature/runtime/hostapi"
)

var request = &method.Request{
	ID: "req-1", Method: "POST", Path: "/api/method/t.guest.run", RawQuery: "a=1",
	Head: head{"Authorization": {"token a:b"}, "Cookie": {"sid=x"}, "X-Two": {"1", "2"}},
	Body: []byte("\xff\x00"),
}

// head is a method.Head of which only the header is asked for.
type head http.Header

func (h head) Origin() string      { return "" }
func (h head) Header() http.Header { return http.Header(h) }

// TestTake: an answer is delivered once, whatever the room for it.
func TestTake(t *testing.T) {
	s := newSite(t)
	var whole string
	for _, room := range []uint32{64 << 10, 10, 1, 0} {
		a := s.post(step{Import: "caller_get", Request: m{}, Room: room})[0]
		if whole == "" {
			whole = a.Out
		}
		if a.Out+a.Rest != whole || len(a.Out) != min(int(room), len(whole)) || a.Result != int64(len(whole)) {
			t.Errorf("room %d: result %d, out %q, rest %q", room, a.Result, a.Out, a.Rest)
		}
	}
}

// TestLies: a range outside the memory ends the call, and nothing else.
func TestLies(t *testing.T) {
	s := newSite(t)
	far, near, much := uint32(0xfffffff0), uint32(1024), uint32(0xffffffff)
	huge := uint32(1 << 20)
	tests := []struct {
		name string
		step step
		kind fault.Kind
	}{
		{"request far away", step{Import: "doc_get", At: &far, Length: &near}, fault.Trap},
		{"request without end", step{Import: "doc_get", At: &near, Length: &much}, fault.Exhausted},
		{"request over the end", step{Import: "doc_get", At: &far, Length: &huge}, fault.Trap},
		{"answer far away", step{Import: "answer at", At: &far, Length: &near}, fault.Trap},
		{"answer at the edge of numbers", step{Import: "answer at", At: &much, Length: &much}, fault.Trap},
		{"output far away", step{Import: "output", At: &far, Length: &near}, fault.Trap},
		{"output without end", step{Import: "output", At: &near, Length: &much}, fault.Exhausted},
		{"log far away", step{Import: "log", At: &far, Length: &near}, fault.Trap},
		{"throw far away", step{Import: "throw", Kind: 2, At: &far, Length: &near}, fault.Trap},
		{"random far away", step{Import: "random at", At: &far, Length: &near}, fault.Trap},
		{"much randomness", step{Import: "random at", At: &near, Length: &huge}, fault.Exhausted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.try("POST", tt.step)
			if fault.KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %d", err, tt.kind)
			}
			if got := s.post(ask("doc_count", m{"doctype": "ToDo"}))[0].Out; got != "0" {
				t.Errorf("the next call answers %q", got)
			}
		})
	}
	zero := uint32(0)
	s.post(step{Import: "take at", At: &far, Length: &zero}) // a range of length 0 is not looked at
}

func TestThrow(t *testing.T) {
	s := newSite(t)
	thrown := func(kind int32, body any) *fault.Error {
		t.Helper()
		_, err := s.try("POST", step{Import: "throw", Kind: kind, Request: body},
			ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "after the end"}}))
		var f *fault.Error
		if !errors.As(err, &f) {
			t.Fatalf("throw gave %v", err)
		}
		return f
	}
	for _, k := range fault.Kinds() {
		f := thrown(int32(k), m{"exc_type": "TheirError", "message": "in the past"})
		if f.Kind != k || f.ExcType() != "TheirError" || len(f.Trace) == 0 {
			t.Errorf("kind %d came out as %d %s, trace %v", k, f.Kind, f.ExcType(), f.Trace)
		}
		if shown := f.Message == "in the past"; shown == (k == fault.Internal) {
			t.Errorf("kind %d: the message is %q", k, f.Message)
		}
	}
	if f := thrown(4, m{}); f.ExcType() != "PermissionError" || f.Message != "" {
		t.Errorf("an empty body came out as %v", f)
	}
	for _, kind := range []int32{0, 18, 255, 256, -1, 258} {
		if f := thrown(kind, m{}); f.Kind != fault.Trap {
			t.Errorf("kind %d came out as %v", kind, f)
		}
	}
	if f := thrown(2, "text"); f.Kind != fault.Trap {
		t.Errorf("a body that is no object came out as %v", f)
	}
	if got := s.post(ask("doc_count", m{"doctype": "ToDo"}))[0].Out; got != "0" {
		t.Errorf("%s documents were written after throw", got)
	}
}

func TestOutput(t *testing.T) {
	s := newSite(t)
	if res, err := s.call("t.guest.silent", "POST", m{}); err != nil || len(res.Message) != 0 {
		t.Errorf("no output is %q, %v", res.Message, err)
	}
	s.plugin.Limits.Output = 100
	if _, err := s.try("POST", ask("doc_get", m{"doctype": strings.Repeat("x", 200)})); fault.KindOf(err) != fault.Exhausted {
		t.Errorf("a long request: %v", err)
	}
	s.plugin.Limits.Output = 1000
	if _, err := s.try("POST", ask("caller_get", m{}), step{Import: "random", Room: 2000}); fault.KindOf(err) != fault.Exhausted {
		t.Errorf("a long output: %v", err)
	}
}

func TestLongAnswer(t *testing.T) {
	s := newSite(t)
	s.plugin.Limits.Input = 50
	_, err := s.try("POST", ask("caller_get", m{}))
	if fault.KindOf(err) != fault.Exhausted {
		t.Errorf("error %v", err)
	}
}

func TestInitialisation(t *testing.T) {
	s := newSite(t)
	res, err := s.call("t.guest.initial", "GET", m{})
	if err != nil || string(res.Message) != fmt.Sprint(-int(fault.Unavailable)) {
		t.Errorf("an import during initialisation answered %s, %v", res.Message, err)
	}
}

func TestClockAndRandom(t *testing.T) {
	s := newSite(t)
	answers := s.post(step{Import: "now"}, step{Import: "random", Room: 16}, step{Import: "random", Room: 16})
	if answers[0].Result != now().UnixMicro() {
		t.Errorf("now is %d", answers[0].Result)
	}
	again := s.post(step{Import: "random", Room: 16})
	if answers[1].Out == answers[2].Out || answers[1].Out == again[0].Out {
		t.Error("random bytes repeat")
	}
}

func TestMethodCall(t *testing.T) {
	s := newSite(t)
	echo := s.post(ask("method_call", m{"method": "t.host.echo", "args": m{"a": 1}}))[0]
	if echo.Out != `{"a":1}` {
		t.Errorf("echo %+v", echo)
	}
	// A call that calls itself ends at the depth of nesting, not of the machine.
	deep := ask("method_call", m{"method": "t.host.echo", "args": m{"bottom": true}})
	for range method.MaxDepth + 2 {
		deep = ask("method_call", m{"method": "t.guest.run", "args": m{"steps": []step{deep}}})
	}
	answers, err := s.try("POST", deep)
	text := fmt.Sprint(answers, err)
	if strings.Contains(text, "bottom") || !strings.Contains(text, "ResourceExhaustedError") && fault.KindOf(err) != fault.Exhausted {
		t.Errorf("deep nesting answered %s", text)
	}
}

func TestConfig(t *testing.T) {
	s := newSite(t)
	if got := s.post(ask("config_get", m{"key": "limit"}))[0].Out; got != "null" {
		t.Errorf("without configuration: %s", got)
	}
	s.plugin.Config = func(_ context.Context, key string) (json.RawMessage, error) {
		if key == "limit" {
			return json.RawMessage(`{"most":3}`), nil
		}
		return nil, nil
	}
	answers := s.post(ask("config_get", m{"key": "limit"}), ask("config_get", m{"key": "none"}))
	if answers[0].Out != `{"most":3}` || answers[1].Out != "null" {
		t.Errorf("configuration %+v", answers)
	}
}

func TestRequest(t *testing.T) {
	s := newSite(t)
	got := s.post(ask("request_get", m{}))[0].Out
	if got != `{"method":"POST","path":"/api/method/t.guest.run","query":"a=1","headers":{"x-two":"1, 2"},"body_base64":"/wA="}` {
		t.Errorf("request %s", got)
	}
	reply := m{"status": 202, "headers": m{"Content-Type": "text/plain", "X-Mine": "1"}, "body": "ok"}
	res, err := s.call("t.guest.run", "POST", m{"steps": []step{ask("respond", reply)}})
	if err != nil || res.Reply == nil {
		t.Fatalf("reply %v, %v", res.Reply, err)
	}
	if res.Reply.Status != 202 || res.Reply.Header.Get("content-type") != "text/plain" || string(res.Reply.Body) != "ok" {
		t.Errorf("reply %+v", res.Reply)
	}
	for name, bad := range map[string]m{
		"status":     {"status": 99},
		"cookie":     {"status": 200, "headers": m{"Set-Cookie": "sid=1"}},
		"rate limit": {"status": 200, "headers": m{"X-RateLimit-Used": "1"}},
		"injection":  {"status": 200, "headers": m{"X-Mine": "1\r\nSet-Cookie: sid=1"}},
		"name":       {"status": 200, "headers": m{"X-a b": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s.post(ask("respond", bad))[0].refused(t, fault.Validation, "ValidationError")
		})
	}
}

func TestLog(t *testing.T) {
	s := newSite(t)
	var buf bytes.Buffer
	s.plugin.Logger = slog.New(slog.NewJSONHandler(&buf, nil))
	lines := func() []string {
		all := strings.Split(strings.TrimSpace(buf.String()), "\n")
		buf.Reset()
		return all
	}
	has := func(line string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(line, want) {
				t.Errorf("the line %s lacks %s", line, want)
			}
		}
	}
	s.post(
		step{Import: "log", Kind: abi.LevelDebug, Request: m{"message": "not logged at this level"}},
		step{Import: "log", Kind: abi.LevelWarn, Request: m{"message": "late", "by": 3, "plugin": "another"}},
		step{Import: "log", Kind: 99, Request: "text"},
	)
	got := lines()
	if len(got) != 2 {
		t.Fatalf("logged %q", got)
	}
	has(got[0], `"level":"WARN"`, `"msg":"late"`, `"guest":{"by":3,"plugin":"another"}`,
		`"site":"one"`, `"plugin":"t.guest"`, `"method":"t.guest.run"`, `"request":"req-1"`)
	has(got[1], `"level":"ERROR"`, `"msg":"\"text\""`)

	if _, err := s.call("t.guest.print", "POST", m{}); err != nil {
		t.Fatal(err)
	}
	has(lines()[0], "to standard error", `"level":"WARN"`)

	s.plugin.Limits.Log = 150
	long := step{Import: "log", Kind: abi.LevelInfo, Request: strings.Repeat("x", 98)}
	s.post(long, long, long)
	got = lines()
	if len(got) != 2 {
		t.Fatalf("150 bytes of log are %d lines", len(got))
	}
	has(got[1], `"cut":true`)
}

// TestImports: every import of the ABI is there, once, in the right shape.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, im := range hostapi.Imports(hostapi.Config{}) {
		if im.Module != abi.Module || seen[im.Name] || im.Fn == nil {
			t.Errorf("import %s.%s", im.Module, im.Name)
		}
		seen[im.Name] = true
	}
	for _, name := range hostapi.Names() {
		if !seen[name] {
			t.Errorf("%s is not linked", name)
		}
	}
	for _, name := range abi.Capabilities() {
		if hostapi.Grant(name) == 0 || hostapi.Elevated.Has(hostapi.Grant(name)) {
			t.Errorf("%s has no grant of its own", name)
		}
	}
	if hostapi.Grant("elevated") != 0 {
		t.Error("asking for elevated access gives it")
	}
}
