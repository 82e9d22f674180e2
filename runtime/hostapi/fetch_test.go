package hostapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/runtime/hostapi"
)

func TestFetch(t *testing.T) {
	s := newSite(t)
	var asked *hostapi.HTTPRequest
	answer := &hostapi.HTTPResponse{Status: 404, Header: http.Header{"X-Two": {"1", "2"}}, Body: []byte("no")}
	s.plugin.Fetch = func(_ context.Context, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		asked = r
		return answer, nil
	}
	got := s.post(ask("http_fetch", m{
		"method": "POST", "url": "https://a.example/", "headers": m{"X-A": "b"}, "body": "{}", "timeout_ms": 1500,
	}))[0].document(t)
	if got["status"] != 404.0 || got["body"] != "no" || got["headers"].(m)["x-two"] != "1, 2" {
		t.Errorf("answer %v", got)
	}
	if asked.Method != "POST" || string(asked.Body) != "{}" || asked.Header["X-A"][0] != "b" || asked.Timeout.Seconds() != 1.5 {
		t.Errorf("asked %+v", asked)
	}
	answer.Body = []byte("\xff")
	if got := s.post(ask("http_fetch", m{"url": "https://a.example/", "body_base64": "AAE="}))[0].document(t); got["body_base64"] != "/w==" {
		t.Errorf("answer %v", got)
	}
	if string(asked.Body) != "\x00\x01" {
		t.Errorf("asked %q", asked.Body)
	}
	for _, bad := range []m{{}, {"url": "https://a.example/", "timeout_ms": -1}, {"url": 5}} {
		s.post(ask("http_fetch", bad))[0].refused(t, fault.BadRequest, "BadRequestError")
	}
	answer.Body = []byte(strings.Repeat("x", s.plugin.Limits.Input))
	s.post(ask("http_fetch", m{"url": "https://a.example/"}))[0].refused(t, fault.TooLarge, "RequestEntityTooLargeError")
	s.plugin.Grants = 0
	s.post(ask("http_fetch", m{"url": "https://a.example/"}))[0].refused(t, fault.Permission, "PermissionError")
}

// TestFetchBeforeTheTransaction: nobody waits for a lock that waits for the
// network.
func TestFetchBeforeTheTransaction(t *testing.T) {
	s := newSite(t)
	s.plugin.Fetch = func(context.Context, *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		return &hostapi.HTTPResponse{Status: 200}, nil
	}
	fetch := ask("http_fetch", m{"url": "https://a.example/"})
	read := ask("doc_count", m{"doctype": "ToDo"})
	write := ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "x"}})
	ok := func(verb string, steps ...step) {
		t.Helper()
		got, err := s.try(verb, steps...)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range got {
			if a.Result < 0 {
				t.Errorf("step %d: %s", i, a.Rest)
			}
		}
	}
	late := func(steps ...step) {
		t.Helper()
		got := s.post(steps...)
		got[len(got)-1].refused(t, fault.Validation, "ValidationError")
	}
	ok("POST", fetch, fetch, read, write)
	ok("GET", read, fetch, read)
	late(read, fetch)
	late(write, fetch)
	late(ask("method_call", m{"method": "t.guest.run", "args": m{"steps": []step{read}}}), fetch)
	s.manual = s.store
	ok("POST", read, fetch, read, fetch, write)
	late(read, write, fetch)
}

// TestFetchOnce: a call that has called out is not run a second time.
func TestFetchOnce(t *testing.T) {
	s := newSite(t)
	asked := 0
	s.plugin.Fetch = func(context.Context, *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		asked++
		return &hostapi.HTTPResponse{Status: 200}, nil
	}
	_, err := s.try("GET", ask("http_fetch", m{"url": "https://a.example/"}),
		ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "x"}}))
	if fault.KindOf(err) != fault.Unavailable || asked != 1 {
		t.Errorf("asked %d times, then %v", asked, err)
	}
}

// TestFetchLimit: nesting gives no further requests.
func TestFetchLimit(t *testing.T) {
	s := newSite(t)
	asked := 0
	s.plugin.Fetch = func(context.Context, *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		asked++
		return &hostapi.HTTPResponse{Status: 200}, nil
	}
	fetch := ask("http_fetch", m{"url": "https://a.example/"})
	var many []step
	for range 20 {
		many = append(many, fetch)
	}
	nested := ask("method_call", m{"method": "t.guest.run", "args": m{"steps": many}})
	got, err := s.try("GET", nested, nested)
	if err != nil || asked != 32 {
		t.Fatalf("asked %d times, then %v", asked, err)
	}
	got[1].refused(t, fault.Exhausted, "ResourceExhaustedError")
	if _, err := s.try("GET", append(many, many...)...); fault.KindOf(err) != fault.Exhausted {
		t.Errorf("too many in one call: %v", err)
	}
}

func TestTape(t *testing.T) {
	s := newSite(t)
	s.record = &hostapi.Tape{}
	steps := []step{
		ask("doc_count", m{"doctype": "ToDo"}),
		{Import: "now"}, {Import: "random", Room: 16},
		ask("doc_get", m{"doctype": "ToDo", "name": "none"}),
		ask("caller_get", m{}),
	}
	want := s.post(steps...)
	text, err := json.Marshal(s.record)
	if err != nil {
		t.Fatal(err)
	}
	// Another host, with nothing behind it.
	repeat := func(steps []step) ([]answer, error) {
		var tape hostapi.Tape
		if err := json.Unmarshal(text, &tape); err != nil {
			t.Fatal(err)
		}
		var got []answer
		input, err := json.Marshal(m{"steps": steps})
		if err != nil {
			t.Fatal(err)
		}
		output, _, err := hostapi.Rerun(t.Context(), s.module, "t.guest.run", input, s.limits, hostapi.DefaultLimits, &tape)
		if err == nil {
			err = json.Unmarshal(output, &got)
		}
		return got, err
	}
	got, err := repeat(steps)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("step %d answers %+v, it was %+v", i, got[i], want[i])
		}
	}
	if _, err := repeat(append(steps, steps[0])); fault.KindOf(err) != fault.Trap {
		t.Errorf("one step more: %v", err)
	}
	steps[0] = ask("doc_count", m{"doctype": "Note"})
	if _, err := repeat(steps); fault.KindOf(err) != fault.Trap {
		t.Errorf("another question: %v", err)
	}
}
