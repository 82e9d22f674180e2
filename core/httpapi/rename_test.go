package httpapi_test

import (
	"reflect"
	"testing"

	"armature/core/sites/sitetest"
)

func TestRename(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "City Alias", []obj{{"fieldname": "alias", "fieldtype": "Data"}}, obj{"istable": 1, "permissions": nil})
		newDocType(t, s.Admin, "City", []obj{{"fieldname": "title", "fieldtype": "Data"},
			{"fieldname": "aliases", "fieldtype": "Table", "options": "City Alias"}}, obj{"autoname": "field:title", "track_changes": 1})
		newDocType(t, s.Admin, "Stop", []obj{{"fieldname": "city", "fieldtype": "Link", "options": "City"}}, obj{"istable": 1, "permissions": nil})
		newDocType(t, s.Admin, "Trip", []obj{{"fieldname": "home", "fieldtype": "Link", "options": "City"},
			{"fieldname": "stops", "fieldtype": "Table", "options": "Stop"},
			{"fieldname": "kind", "fieldtype": "Link", "options": "DocType"},
			{"fieldname": "about", "fieldtype": "Dynamic Link", "options": "kind"}}, obj{"autoname": "Prompt"})
		city := func(name string) obj {
			return s.Admin.Post("/api/resource/City", obj{"title": name, "aliases": []obj{{"alias": "the " + name}}}).Data(t)
		}
		trip := func(name, to string) {
			s.Admin.Post("/api/resource/Trip", obj{"name": name, "home": to, "stops": []obj{{"city": to}}, "kind": "City", "about": to}).OK(t)
		}
		pointsAt := func(t *testing.T, name, to string) {
			t.Helper()
			d := s.Admin.Get("/api/resource/Trip/" + name).Data(t)
			if d["home"] != to || d["about"] != to || d["stops"].([]any)[0].(obj)["city"] != to {
				t.Errorf("%s points at %v, %v, %v", name, d["home"], d["about"], d["stops"])
			}
		}
		city("Bombay")
		trip("T1", "Bombay")
		t.Run("a changed naming field is set back", func(t *testing.T) {
			if d := s.Admin.Put("/api/resource/City/Bombay", obj{"title": "Mumbai"}).Data(t); d["title"] != "Bombay" || d["name"] != "Bombay" {
				t.Errorf("got %v", d)
			}
		})
		t.Run("everything follows", func(t *testing.T) {
			share := s.Admin.Post("/api/resource/DocShare", obj{"everyone": 1, "share_doctype": "City", "share_name": "Bombay"}).Data(t)["name"].(string)
			if got := s.Admin.Post(client+"rename_doc", obj{"doctype": "City", "old_name": "Bombay", "new_name": " Mumbai "}).Message(t); got != "Mumbai" {
				t.Errorf("answered %v", got)
			}
			d := s.Admin.Get("/api/resource/City/Mumbai").Data(t)
			if row := d["aliases"].([]any)[0].(obj); d["title"] != "Mumbai" || row["alias"] != "the Bombay" || row["parent"] != "Mumbai" {
				t.Errorf("document %v", d)
			}
			pointsAt(t, "T1", "Mumbai")
			if got := s.Admin.Get("/api/resource/DocShare/" + share).Data(t)["share_name"]; got != "Mumbai" {
				t.Errorf("share names %v", got)
			}
			s.Admin.Get("/api/resource/City/Bombay").Fails(t, 404, "DoesNotExistError")
			if got := s.Admin.Get("/api/resource/Version", "filters", filters([]any{"docname", "=", "Mumbai"})).List(t); len(got) != 1 {
				t.Errorf("versions %v", got)
			}
		})
		t.Run("as a document method", func(t *testing.T) {
			if r := s.Admin.Post("/api/resource/City/Mumbai", obj{"run_method": "rename", "name": "Bombay"}).OK(t); r.Body["data"] != "Bombay" {
				t.Errorf("answered %s", r.Text)
			}
			pointsAt(t, "T1", "Bombay")
			r := s.Admin.Post("/api/method/run_doc_method", obj{"dt": "City", "dn": "Bombay", "method": "rename", "args": `{"name":"Mumbai"}`}).OK(t)
			if r.Body["message"] != "Mumbai" || r.Body["docs"].([]any)[0].(obj)["name"] != "Mumbai" {
				t.Errorf("answered %s", r.Text)
			}
		})
		t.Run("refused", func(t *testing.T) {
			city("Pune")
			rename := func(c *sitetest.Client, doctype, old, new string) *sitetest.Reply {
				return c.Post(client+"rename_doc", obj{"doctype": doctype, "old_name": old, "new_name": new})
			}
			rename(s.Admin, "City", "Mumbai", "Pune").Fails(t, 409, "DuplicateEntryError")
			rename(s.Admin, "City", "Mumbai", "Mumbai").Fails(t, 417, "ValidationError")
			rename(s.Admin, "City", "Mumbai", "a<b").Fails(t, 409, "NameError")
			rename(s.Admin, "City", "Mumbai", "").Fails(t, 417, "TypeError")
			rename(s.Admin, "City", "none", "x").Fails(t, 404, "DoesNotExistError")
			note := s.Admin.Post("/api/resource/Note", obj{"title": "n"}).OK(t).Data(t)["name"].(string)
			rename(s.Admin, "Note", note, "x").Fails(t, 417, "ValidationError")
			rename(s.Admin, "ToDo", newToDo(t, s.Admin, nil), "a todo of that name").OK(t)
			rename(s.Admin, "DocType", "User", "Person").Fails(t, 403, "PermissionError")
			rename(s.User(t, "ann@example.com"), "City", "Mumbai", "x").Fails(t, 403, "PermissionError")
		})
		t.Run("merge", func(t *testing.T) {
			trip("T2", "Pune")
			s.Admin.Post(client+"rename_doc", obj{"doctype": "City", "old_name": "Pune", "new_name": "none", "merge": 1}).Fails(t, 404, "DoesNotExistError")
			s.Admin.Post(client+"rename_doc", obj{"doctype": "City", "old_name": "Pune", "new_name": "Mumbai", "merge": true}).OK(t)
			pointsAt(t, "T2", "Mumbai")
			if got := s.Admin.Get("/api/resource/City").Column(t, "name"); !reflect.DeepEqual(got, []any{"Mumbai"}) {
				t.Errorf("cities %v", got)
			}
			if got := s.Admin.Get("/api/resource/City Alias", "parent", "City").List(t); len(got) != 1 {
				t.Errorf("rows %v", got)
			}
		})
		t.Run("a dynamic link keeps what it names", func(t *testing.T) {
			city("Goa")
			s.Admin.Post("/api/resource/Trip", obj{"name": "T3", "kind": "City", "about": "Goa"}).OK(t)
			s.Admin.Delete("/api/resource/City/Goa").Fails(t, 417, "LinkExistsError")
		})
	})
}

func TestCommentsAndDiscard(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := s.User(t, "ann@example.com")
		path := todo + "/" + newToDo(t, ann, nil)
		r := ann.Post(path, obj{"run_method": "add_comment", "comment_type": "Comment", "text": "fine <script>x</script>"}).OK(t)
		d := r.Body["data"].(obj)
		if d["content"] != "fine " || d["comment_email"] != "ann@example.com" || d["reference_name"] != path[len(todo)+1:] || d["owner"] != "ann@example.com" {
			t.Errorf("comment %v", d)
		}
		ann.Post(path, obj{"run_method": "add_comment", "comment_type": "Shout", "text": "x"}).Fails(t, 417, "ValidationError")
		s.User(t, "ben@example.com").Post(path, obj{"run_method": "add_comment", "text": "x"}).Fails(t, 403, "PermissionError")
		if r := ann.Delete(path); r.Status != 202 {
			t.Errorf("%d %s", r.Status, r.Text)
		}
		if got := s.Admin.Get("/api/resource/Comment").List(t); len(got) != 0 {
			t.Errorf("comments outlive their document: %v", got)
		}

		newDocType(t, s.Admin, "Offer", nil, obj{"is_submittable": 1, "permissions": []obj{{"role": "System Manager", "read": 1,
			"write": 1, "create": 1, "submit": 1, "cancel": 1}}})
		offer := "/api/resource/Offer/" + s.Admin.Post("/api/resource/Offer", obj{}).Data(t)["name"].(string)
		if d := s.Admin.Post(offer, obj{"run_method": "discard"}).Data(t); d["docstatus"] != 2.0 {
			t.Errorf("discarded %v", d)
		}
		s.Admin.Post(offer, obj{"run_method": "discard"}).Fails(t, 417, "DocstatusTransitionError")
		s.Admin.Put(offer, obj{"docstatus": 0}).Fails(t, 417, "ValidationError")
	})
}
