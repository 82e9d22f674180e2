package armature_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"armature/sdk/go"
)

// sent records the requests of an import and gives a fixed answer.
func sent(h *recorder, name string, answer any) *[]armature.Doc {
	var got []armature.Doc
	h.On(name, func(in armature.Doc) (any, error) {
		got = append(got, in)
		return answer, nil
	})
	return &got
}

// The requests as sdk/abi/abi.md describes them.
func TestRequests(t *testing.T) {
	type object = map[string]any
	tests := []struct {
		name, capability string
		call             func() error
		want             armature.Doc
	}{
		{"get", "doc_get", func() error { _, err := armature.Get("To\"Do", "T/1"); return err },
			armature.Doc{"doctype": "To\"Do", "name": "T/1"}},
		{"insert", "doc_insert", func() error { _, err := armature.Insert("ToDo", armature.Doc{"a": 1}); return err },
			armature.Doc{"doc": object{"doctype": "ToDo", "a": int64(1)}}},
		{"insert nothing", "doc_insert", func() error { _, err := armature.Insert("ToDo", armature.Doc{}); return err },
			armature.Doc{"doc": object{"doctype": "ToDo"}}},
		{"insert a struct", "doc_insert", func() error {
			_, err := armature.Insert("ToDo", struct {
				A       int    `json:"a"`
				DocType string `json:"doctype"`
			}{1, "Other"})
			return err
		}, armature.Doc{"doc": object{"doctype": "ToDo", "a": int64(1)}}},
		{"update", "doc_update", func() error { _, err := armature.Update("ToDo", "T1", armature.Doc{"a": nil}); return err },
			armature.Doc{"doctype": "ToDo", "name": "T1", "doc": object{"a": nil}}},
		{"delete", "doc_delete", func() error { return armature.Delete("ToDo", "T1") }, armature.Doc{"doctype": "ToDo", "name": "T1"}},
		{"submit", "doc_submit", func() error { _, err := armature.Submit("Order", "O1"); return err }, armature.Doc{"doctype": "Order", "name": "O1"}},
		{"cancel", "doc_cancel", func() error { _, err := armature.Cancel("Order", "O1"); return err }, armature.Doc{"doctype": "Order", "name": "O1"}},
		{"call", "method_call", func() error { _, err := armature.Call[any]("a.b", armature.Doc{"x": 1}); return err },
			armature.Doc{"method": "a.b", "args": object{"x": int64(1)}}},
		{"call without arguments", "method_call", func() error { _, err := armature.Call[any]("a.b", nil); return err }, armature.Doc{"method": "a.b"}},
		{"config", "config_get", func() error { _, err := armature.Config[any]("k"); return err }, armature.Doc{"key": "k"}},
		{"load", "kv_get", func() error { _, _, err := armature.Load[any]("k"); return err }, armature.Doc{"key": "k"}},
		{"store", "kv_set", func() error { return armature.Store("k", []string{"v"}, 60) },
			armature.Doc{"key": "k", "value": []any{"v"}, "ttl_s": int64(60)}},
		{"forget", "kv_delete", func() error { return armature.Forget("k") }, armature.Doc{"key": "k"}},
		{"enqueue", "enqueue", func() error { _, err := armature.Enqueue("a.b", armature.Doc{"x": 1}); return err },
			armature.Doc{"method": "a.b", "args": object{"x": int64(1)}}},
		{"fetch", "http_fetch", func() error {
			_, err := armature.Fetch(armature.HTTPRequest{Method: "POST", URL: "https://x", Headers: map[string]string{"a": "b"}, Body: []byte("\xff"), TimeoutMS: 5})
			return err
		}, armature.Doc{"url": "https://x", "method": "POST", "headers": object{"a": "b"}, "body_base64": "/w==", "timeout_ms": int64(5)}},
		{"connected", "connected_request", func() error {
			_, err := armature.FetchConnected("App", armature.HTTPRequest{URL: "https://x", Body: []byte("b")})
			return err
		}, armature.Doc{"app": "App", "url": "https://x", "body": "b"}},
		{"as an app", "connected_request", func() error {
			_, err := armature.FetchAsApp("App", armature.HTTPRequest{URL: "https://x"})
			return err
		}, armature.Doc{"app": "App", "as": "app", "url": "https://x"}},
		{"tell", "tell", func() error { return armature.Tell("a \"b\"") }, armature.Doc{"message": "a \"b\""}},
		{"tell as", "tell", func() error { return armature.Notice{Message: "a", Title: "b", Indicator: "red"}.Tell() },
			armature.Doc{"message": "a", "title": "b", "indicator": "red"}},
		{"respond", "respond", func() error { return armature.Respond(202, nil, []byte("ok")) }, armature.Doc{"status": int64(202), "body": "ok"}},
		{"list nothing special", "doc_list", func() error { _, err := armature.List("ToDo", armature.Query{}); return err }, armature.Doc{"doctype": "ToDo"}},
		{"list", "doc_list", func() error {
			_, err := armature.List("ToDo", armature.Query{
				Fields: []string{"name", "status"}, Where: []armature.Filter{armature.Eq("a", 1), armature.In("b")},
				Any: []armature.Filter{armature.IsSet("c")}, OrderBy: "name asc", GroupBy: "status", Start: 5, Limit: armature.All,
			})
			return err
		}, armature.Doc{"doctype": "ToDo", "fields": []any{"name", "status"},
			"filters":    []any{[]any{"a", "=", int64(1)}, []any{"b", "in", []any{}}},
			"or_filters": []any{[]any{"c", "is", "set"}}, "order_by": "name asc", "group_by": "status",
			"limit_start": int64(5), "limit_page_length": int64(0)}},
		{"count", "doc_count", func() error { _, err := armature.Count("ToDo", armature.Ne("a", "b")); return err },
			armature.Doc{"doctype": "ToDo", "filters": []any{[]any{"a", "!=", "b"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := sent(newRecorder(t), tt.capability, nil)
			if err := tt.call(); err != nil {
				t.Fatal(err)
			}
			if len(*got) != 1 || !reflect.DeepEqual((*got)[0], tt.want) {
				t.Errorf("sent %v, want %v", *got, tt.want)
			}
		})
	}
}

func TestErrorsOfTheHost(t *testing.T) {
	h := newRecorder(t)
	long := strings.Repeat("long ", 20000)
	h.On("doc_get", func(armature.Doc) (any, error) {
		return nil, &armature.Error{Kind: armature.KindValidation, Type: "LinkValidationError", Message: long}
	})
	_, err := armature.Get("ToDo", "T1")
	var e *armature.Error
	if !errors.As(err, &e) || e.Kind != armature.KindValidation || e.Type != "LinkValidationError" || e.Message != long {
		t.Errorf("got %.100v", err)
	}
	if armature.KindOf(nil) != 0 || armature.KindOf(errors.New("x")) != armature.KindInternal {
		t.Error("KindOf nil or of a plain error")
	}
}

// An answer that fills the static buffer exactly, one byte more, and much more.
func TestAnswersOfAnySize(t *testing.T) {
	h := newRecorder(t)
	for _, size := range []int{0, 30<<10 - 2, 30<<10 - 1, 30 << 10, 1 << 20} {
		text := strings.Repeat("é", size/2) + strings.Repeat("x", size%2)
		h.On("config_get", func(armature.Doc) (any, error) { return text, nil })
		got, err := armature.Config[string]("k")
		if err != nil || got != text {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
}

func TestInputsAndOutputsOfAnySize(t *testing.T) {
	h := newRecorder(t)
	for _, size := range []int{1, 30 << 10, 1 << 20} {
		text := strings.Repeat("x", size)
		var got armature.Doc
		echo := func(n int32) {
			armature.Handle(n, func(d armature.Doc) (armature.Doc, error) { return d, nil })
		}
		if err := h.Call(echo, armature.Doc{"text": text}, &got); err != nil || got.String("text") != text {
			t.Errorf("%d bytes: got %d, %v", size, len(got.String("text")), err)
		}
	}
}

func TestHandleThrows(t *testing.T) {
	wrapped := errors.Join(errors.New("closing"), armature.Denied("no"))
	tests := []struct {
		name string
		err  error
		want armature.Error
	}{
		{"typed", &armature.Error{Kind: armature.KindConflict, Type: "Mine", Message: "m"}, armature.Error{Kind: armature.KindConflict, Type: "Mine", Message: "m"}},
		{"wrapped", wrapped, armature.Error{Kind: armature.KindPermission, Type: "PermissionError", Message: "no"}},
		{"plain", errors.New("disk"), armature.Error{Kind: armature.KindInternal, Type: "InternalError", Message: "disk"}},
		{"bad kind", &armature.Error{Kind: 99, Message: "m"}, armature.Error{Kind: armature.KindInternal, Type: "InternalError", Message: "m"}},
		{"nil pointer", (*armature.Error)(nil), armature.Error{Kind: armature.KindInternal, Type: "InternalError", Message: "nil error thrown"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newRecorder(t)
			reached := false
			err := h.Call(func(n int32) {
				armature.Handle(n, func(armature.None) (armature.None, error) { return armature.None{}, tt.err })
				reached = true
			}, nil, nil)
			var e *armature.Error
			if !errors.As(err, &e) || *e != tt.want {
				t.Errorf("got %+v", err)
			}
			if reached {
				t.Error("throw returned")
			}
		})
	}
}

func TestCaller(t *testing.T) {
	h := newRecorder(t)
	want := armature.User{Name: "zoe@example.com", FullName: "Zoë", Roles: []string{"All", "Sales"}}
	sent(h, "caller_get", armature.Doc{"user": want.Name, "full_name": want.FullName, "roles": want.Roles})
	got, err := armature.Caller()
	if err != nil || !reflect.DeepEqual(got, want) || !got.Has("Sales") || got.Has("Admin") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLog(t *testing.T) {
	h := newRecorder(t)
	armature.Log(armature.LevelWarn, "plain \"text\"")
	armature.Log(armature.LevelInfo, "closed", "name", "T1", "n", 2, "err", errors.New("x"), "f", func() {})
	armature.Log(armature.LevelInfo, "odd", "lonely")
	want := []string{`plain "text"`, `{"message":"closed","name":"T1","n":2,"err":"x","f":"!json: unsupported type: func()"}`, `{"message":"odd","!BADKEY":"lonely"}`}
	for i, line := range h.Log {
		if line.Message != want[i] {
			t.Errorf("line %d: %s", i, line.Message)
		}
	}
	if len(h.Log) != 3 || h.Log[0].Level != armature.LevelWarn {
		t.Errorf("log %v", h.Log)
	}
}

func TestNowAndRandom(t *testing.T) {
	h := newRecorder(t)
	h.Clock = time.Date(2030, 5, 6, 7, 8, 9, 123000, time.UTC)
	if got := armature.Now(); !got.Equal(h.Clock) || got.Location() != time.UTC {
		t.Errorf("now %v", got)
	}
	var a, b [16]byte
	armature.Random(a[:])
	armature.Random(b[:])
	if a == b {
		t.Error("random repeats")
	}
}

func TestHTTPAnswers(t *testing.T) {
	h := newRecorder(t)
	sent(h, "http_fetch", armature.Doc{"status": 404, "headers": armature.Doc{"a": "b"}, "body_base64": "/w=="})
	got, err := armature.Fetch(armature.HTTPRequest{URL: "https://x"})
	if err != nil || got.Status != 404 || got.Headers["a"] != "b" || string(got.Body) != "\xff" {
		t.Errorf("got %+v, %v", got, err)
	}
	sent(h, "request_get", armature.Doc{"method": "POST", "path": "/p", "query": "a=1", "body": "text"})
	in, err := armature.Request()
	if err != nil || in.Method != "POST" || in.Path != "/p" || in.Query != "a=1" || string(in.Body) != "text" {
		t.Errorf("got %+v, %v", in, err)
	}
}

func TestDocAccessors(t *testing.T) {
	d := armature.Doc{"s": "x", "i": int64(3), "f": 2.5, "b": true, "n": "12", "x": "1.5", "rows": []any{map[string]any{"name": "r"}}}
	if d.String("s") != "x" || d.String("i") != "" || d.Int("i") != 3 || d.Int("f") != 2 || d.Int("n") != 12 || d.Float("x") != 1.5 || d.Float("i") != 3 {
		t.Error("text or numbers")
	}
	if !d.Bool("b") || !d.Bool("i") || d.Bool("missing") {
		t.Error("checks")
	}
	if rows := d.Docs("rows"); len(rows) != 1 || rows[0].Name() != "r" || d.Docs("s") != nil {
		t.Error("rows")
	}
}
