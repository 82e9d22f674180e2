package sites_test

import (
	"fmt"
	"net/http"
	"testing"

	"armature/core/sites/sitetest"
)

// A DocType that is renamed takes along what its documents are: rows, links from
// others, secrets, the numbers of its series, comments and versions.
func TestRenameDocType(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		a := s.Admin
		field := func(name, kind, options string) map[string]any {
			return map[string]any{"fieldname": name, "fieldtype": kind, "options": options}
		}
		define := func(name string, more map[string]any, fields ...any) {
			t.Helper()
			doc := map[string]any{"name": name, "module": "Core", "custom": 1, "fields": fields}
			if more["istable"] == nil {
				doc["permissions"] = []any{map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}}
			}
			for k, v := range more {
				doc[k] = v
			}
			want(t, a.Post("/api/resource/DocType", doc), http.StatusOK)
		}
		define("Book Row", map[string]any{"istable": 1}, field("heading", "Data", ""))
		define("Book", map[string]any{"track_changes": 1, "autoname": "B-.###"},
			field("title", "Data", ""), field("code", "Password", ""), field("rows", "Table", "Book Row"), field("sequel", "Link", "Book"), field("kind", "Select", "Book"))
		define("Loan", nil, field("book", "Link", "Book"))
		define("Shelf", map[string]any{"issingle": 1}, field("label", "Data", ""))
		make := func(doctype string, doc map[string]any) map[string]any {
			t.Helper()
			got, _ := want(t, a.Post("/api/resource/"+doctype, doc), http.StatusOK)["data"].(map[string]any)
			return got
		}
		first := make("Book", map[string]any{"title": "One", "code": "secret 1", "rows": []any{map[string]any{"heading": "x"}}})
		second := make("Book", map[string]any{"title": "Two", "sequel": first["name"], "kind": "Book"})
		want(t, a.Put("/api/resource/Book/B-001", map[string]any{"title": "Uno"}), http.StatusOK)
		loan := make("Loan", map[string]any{"book": second["name"]})
		make("ToDo", map[string]any{"description": "read", "reference_type": "Book", "reference_name": "B-001"})
		want(t, a.Put("/api/resource/Shelf/Shelf", map[string]any{"label": "upper"}), http.StatusOK)

		rename := func(old, new string, status int) {
			t.Helper()
			want(t, a.Post("/api/method/framework.client.rename_doc", map[string]any{"doctype": "DocType", "old_name": old, "new_name": new}), status)
		}
		rename("ToDo", "Task", http.StatusForbidden)
		rename("Book", "ToDo", http.StatusConflict)
		rename("Book", "Notification", http.StatusExpectationFailed)
		rename("Nothing", "Something", http.StatusNotFound)
		rename("Book", "Volume", http.StatusOK)
		rename("Book Row", "Chapter", http.StatusOK)
		rename("Shelf", "Board", http.StatusOK)

		want(t, a.Get("/api/resource/Book/B-001"), http.StatusNotFound)
		got, _ := want(t, a.Get("/api/resource/Volume/B-001"), http.StatusOK)["data"].(map[string]any)
		if rows, _ := got["rows"].([]any); got["title"] != "Uno" || len(rows) != 1 || rows[0].(map[string]any)["parenttype"] != "Volume" {
			t.Errorf("the document is %v", got)
		}
		if got := want(t, a.Get("/api/method/framework.client.get_password?doctype=Volume&name=B-001&fieldname=code"), http.StatusOK)["message"]; got != "secret 1" {
			t.Errorf("the secret is %v", got)
		}
		if next := make("Volume", map[string]any{"title": "Three", "sequel": "B-002", "kind": "Book", "rows": []any{map[string]any{"heading": "y"}}}); next["name"] != "B-003" {
			t.Errorf("the series goes on with %v", next["name"])
		}
		want(t, a.Put("/api/resource/Loan/"+fmt.Sprint(loan["name"]), map[string]any{"book": "B-003"}), http.StatusOK)
		if board, _ := want(t, a.Get("/api/resource/Board/Board"), http.StatusOK)["data"].(map[string]any); board["label"] != "upper" {
			t.Errorf("the single is %v", board)
		}
		for _, list := range []string{
			`/api/resource/ToDo?filters=[["reference_type","=","Volume"]]`,
			`/api/resource/Version?filters=[["ref_doctype","=","Volume"],["docname","=","B-001"]]`,
		} {
			if found, _ := want(t, a.Get(list), http.StatusOK)["data"].([]any); len(found) != 1 {
				t.Errorf("%s: %v", list, found)
			}
		}
		// The name is free again, with a series of its own.
		define("Book", map[string]any{"autoname": "B-.###"}, field("title", "Data", ""))
		if fresh := make("Book", map[string]any{"title": "Another"}); fresh["name"] != "B-001" {
			t.Errorf("a new DocType of the name begins with %v", fresh["name"])
		}
	})
}

func want(t *testing.T, r *sitetest.Reply, status int) map[string]any {
	t.Helper()
	if r.Status != status {
		t.Fatalf("%d %s, want %d", r.Status, r.Text, status)
	}
	return r.Body
}
