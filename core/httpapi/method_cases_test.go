package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/method"
	"armature/core/sites/sitetest"
)

// caseMethods are methods as a plugin could have them.
var caseMethods = []*method.Method{
	{Path: "cases.data", Func: func(_ context.Context, c *method.Call) (any, error) { return c.Args.Get("data"), nil }},
	{Path: "cases.raise", Func: func(context.Context, *method.Call) (any, error) { return nil, fault.Invalid("", "M") }},
	{Path: "cases.write", Func: func(ctx context.Context, c *method.Call) (any, error) {
		doc, err := c.Documents.As(c.Caller, c.Tx).Insert(ctx, "Note", map[string]any{"title": "by method"})
		if err != nil {
			return nil, err
		}
		return doc.Name(), nil
	}},
}

func TestCasesOfMethods(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const call = "/api/method/"
		ann := s.User(t, "ann@example.com")
		notes := func(title string) int {
			return len(s.Admin.Get("/api/resource/Note", "filters", filters([]any{"title", "=", title})).List(t))
		}
		t.Run("9 run_method", func(t *testing.T) {
			name := newToDo(t, s.Admin, nil)
			if s.Admin.Get(todo+"/"+name, "run_method", "add_comment", "text", "x").OK(t).Body["data"] == nil {
				t.Error("no data")
			}
			ann.Get(todo+"/"+name, "run_method", "add_comment").Fails(t, 403, "PermissionError")
			ann.Get(todo+"/"+name, "run_method", "nothing").Fails(t, 403, "PermissionError")
		})
		t.Run("44 ping", func(t *testing.T) {
			if r := s.Guest.Get(call + "ping").OK(t); r.Text != `{"message":"pong"}` {
				t.Errorf("answered %s", r.Text)
			}
		})
		t.Run("45 get_logged_user", func(t *testing.T) {
			for _, c := range []*sitetest.Client{ann, ann.Basic()} {
				if got := c.Get(call + "framework.auth.get_logged_user").Message(t); got != "ann@example.com" {
					t.Errorf("got %v", got)
				}
			}
		})
		t.Run("46 wrong credentials", func(t *testing.T) {
			key, _, _ := strings.Cut(ann.Authorization, ":")
			for _, wrong := range []string{key + ":wrong", "token nobody:nothing"} {
				c := *ann
				c.Authorization = wrong
				c.Get(call+"framework.auth.get_logged_user").Fails(t, 401, "AuthenticationError")
			}
		})
		t.Run("47 a writer called with GET", func(t *testing.T) {
			for _, name := range []string{"save", "insert", "delete", "set_value", "rename_doc", "batch"} {
				s.Admin.Get(client+name).Fails(t, 403, "PermissionError")
			}
		})
		t.Run("48 insert_many", func(t *testing.T) {
			docs := []obj{}
			for i := range 5 {
				docs = append(docs, obj{"doctype": "Note", "title": fmt.Sprint("many ", i)})
			}
			names := s.Admin.Post(client+"insert_many", obj{"docs": docs}).Message(t).([]any)
			listed := s.Admin.Get("/api/resource/Note", "order_by", "title asc", "filters", filters([]any{"title", "like", "many %"})).Column(t, "name")
			if len(names) != 5 || !reflect.DeepEqual(names, listed) {
				t.Errorf("answered %v, listed %v", names, listed)
			}
		})
		t.Run("49 an array", func(t *testing.T) {
			if got := s.Admin.Post(call+"cases.data", []any{1, "two"}).Message(t); !reflect.DeepEqual(got, []any{1.0, "two"}) {
				t.Errorf("got %v", got)
			}
		})
		t.Run("50 a method that raises", func(t *testing.T) {
			r := s.Admin.Get(call+"cases.raise").Fails(t, 417, "ValidationError")
			var trace []string
			exc, _ := r.Body["exc"].(string)
			if err := json.Unmarshal([]byte(exc), &trace); err != nil || len(trace) == 0 || r.Told(t) != "M" {
				t.Errorf("answered %s", r.Text)
			}
		})
		t.Run("51 get_value", func(t *testing.T) {
			d := s.Admin.Post("/api/resource/Note", obj{"title": "one", "content": "text"}).Data(t)
			for _, by := range []any{obj{"title": "one"}, d["name"]} {
				got := s.Admin.Get(client+"get_value", "doctype", "Note", "fieldname", "content", "filters", by).Message(t)
				if !reflect.DeepEqual(got, obj{"content": "text"}) {
					t.Errorf("by %v: %v", by, got)
				}
			}
		})
		t.Run("52 get with filters", func(t *testing.T) {
			for _, by := range []any{obj{"title": "one"}, `{"title":"one"}`} {
				got := s.Admin.Post(client+"get", obj{"doctype": "Note", "filters": by}).Message(t).(obj)
				if got["content"] != "text" || got["doctype"] != "Note" {
					t.Errorf("by %v: %v", by, got)
				}
			}
		})
		t.Run("53 run_doc_method", func(t *testing.T) {
			name := newToDo(t, s.Admin, nil)
			s.Admin.Post(call+"run_doc_method", obj{"dt": "ToDo", "dn": name, "method": "on_update"}).Fails(t, 403, "PermissionError")
			ann.Post(call+"run_doc_method", obj{"dt": "ToDo", "dn": name, "method": "nothing"}).Fails(t, 403, "PermissionError")
		})
		t.Run("54 GET of a method that writes", func(t *testing.T) {
			if s.Admin.Get(call+"cases.write").Message(t) == "" || notes("by method") != 0 {
				t.Error("a GET left something behind")
			}
			s.Admin.Post(call+"cases.write", obj{}).OK(t)
			if notes("by method") != 1 {
				t.Error("a POST left nothing behind")
			}
		})
	}, sitetest.WithMethods(caseMethods...))
}
