package httpapi_test

import (
	"reflect"
	"strings"
	"testing"
)

// TestScopesOfResources: a token reaches the documents its scopes name and no
// others, whoever holds it and through whichever door.
func TestScopesOfResources(t *testing.T) {
	s := newSite(t)
	name := s.create("admin", "ToDo", `{"description":"x","priority":"High"}`)["name"].(string)
	const resource, call = "/api/resource/", "/api/method/framework.client."
	doc := resource + "ToDo/" + name
	tests := []struct {
		name   string
		r      request
		needed string // the scope asked for; empty: allowed
	}{
		{"list", request{as: "todo-reader", path: resource + "ToDo"}, ""},
		{"read", request{as: "todo-reader", path: doc}, ""},
		{"list of another", request{as: "todo-reader", path: resource + "User"}, "resource:User:read"},
		{"read of another", request{as: "todo-reader", path: resource + "User%20Permission/x"}, "resource:User%20Permission:read"},
		{"create", request{as: "todo-reader", verb: "POST", path: resource + "ToDo", body: `{"description":"x"}`}, "resource:ToDo:write"},
		{"update", request{as: "todo-reader", verb: "PUT", path: doc, body: `{"status":"Closed"}`}, "resource:ToDo:write"},
		{"delete", request{as: "todo-reader", verb: "DELETE", path: doc}, "resource:ToDo:write"},
		{"expand_links", request{as: "todo-reader", path: doc + "?expand_links=True"}, "resource:Priority:read"},
		{"rows of another", request{as: "todo-reader", path: resource + "DocField?parent=DocType"}, "resource:DocType:read"},
		{"rows without a parent", request{as: "todo-writer", path: resource + "DocField"}, "resource:DocField:read"},
		{"rows that are named", request{as: "todo-writer", path: resource + "Note%20Seen%20By"}, ""},
		{"an elevated caller", request{as: "todo-writer", path: resource + "User"}, "resource:User:read"},
		{"write covers read", request{as: "todo-writer", path: doc}, ""},
		{"update by a writer", request{as: "todo-writer", verb: "PUT", path: doc, body: `{"status":"Closed"}`}, ""},
		{"star", request{as: "all-reader", path: resource + "User"}, ""},
		{"star reads only", request{as: "all-reader", verb: "PUT", path: doc, body: `{}`}, "resource:ToDo:write"},
		{"all", request{as: "anything", verb: "PUT", path: doc, body: `{}`}, ""},
		{"other scopes", request{as: "scoped", path: resource + "ToDo"}, "resource:ToDo:read"},
		{"get_list", request{as: "todo-reader", path: call + "get_list?doctype=User"}, "resource:User:read"},
		{"get_value", request{as: "todo-reader", path: call + "get_value?doctype=ToDo&fieldname=status&filters=" + name}, ""},
		{"a document method", request{as: "todo-reader", verb: "POST", path: doc, body: `{"run_method":"add_comment"}`}, "resource:ToDo:write"},
		{"a batch", request{as: "todo-writer", verb: "POST", path: call + "batch",
			body: `{"operations":[{"op":"insert","doc":{"doctype":"Note","title":"x"}}]}`}, "resource:Note:write"},
		{"a method that writes", request{as: "scoped", verb: "POST", path: "/api/method/test.write", body: `{"title":"x"}`}, "resource:Note:write"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			a := s.do(tt.r)
			if tt.needed == "" {
				a.must(200)
				return
			}
			a.must(403)
			if got := a.header.Get("Www-Authenticate"); !strings.Contains(got, `error="insufficient_scope", scope="`+tt.needed+`"`) {
				t.Errorf("challenge %q: %s", got, a.text)
			}
		})
	}
	s.t = t
	// What a list reaches in other documents is left out, or left as it is.
	rows := s.do(request{as: "todo-reader", path: resource + `ToDo?fields=["priority","priority.title%20as%20t"]&expand=["priority"]`}).must(200).rows()
	if !reflect.DeepEqual(rows, []any{map[string]any{"priority": "High"}}) {
		t.Errorf("rows %v", rows)
	}
	s.do(request{as: "todo-reader", path: resource + `ToDo?filters=[["priority.title","=","High"]]`}).must(403)
	x := s.do(request{as: "todo-reader", path: call + "explain_permission?doctype=User"}).must(200)
	if m := x.body["message"].(map[string]any); m["allowed"] != false {
		t.Errorf("explained %v", m)
	}
}
