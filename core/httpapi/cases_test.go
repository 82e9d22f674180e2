package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

type obj = map[string]any

// newToDo makes a ToDo and returns its name.
func newToDo(t testing.TB, c *sitetest.Client, fields obj) string {
	t.Helper()
	body := obj{"description": "x"}
	for k, v := range fields {
		body[k] = v
	}
	return c.Post("/api/resource/ToDo", body).Data(t)["name"].(string)
}

// newDocType makes a custom DocType that System Manager may do everything with.
func newDocType(t testing.TB, c *sitetest.Client, name string, fields []obj, more obj) {
	t.Helper()
	body := obj{"name": name, "module": "Custom", "custom": 1, "fields": fields, "permissions": []obj{{
		"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1,
	}}}
	for k, v := range more {
		body[k] = v
	}
	c.Post("/api/resource/DocType", body).OK(t)
}

func filters(f ...any) string {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return string(text)
}

const todo = "/api/resource/ToDo"

func TestCasesOfReading(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		for i := range 25 {
			newToDo(t, s.Admin, obj{"description": fmt.Sprint("todo ", i)})
		}
		t.Run("1 list without credentials", func(t *testing.T) {
			s.Guest.Get(todo).Fails(t, 403, "PermissionError")
		})
		t.Run("2 list shows names, twenty of them", func(t *testing.T) {
			rows := s.Admin.Get(todo).List(t)
			if len(rows) != 20 {
				t.Errorf("%d rows", len(rows))
			}
			for _, row := range rows {
				if r := row.(obj); len(r) != 1 || r["name"] == nil {
					t.Fatalf("row %v", r)
				}
			}
		})
		t.Run("3 limit", func(t *testing.T) {
			if rows := s.Admin.Get(todo, "limit", "2").List(t); len(rows) != 2 {
				t.Errorf("%d rows", len(rows))
			}
		})
		t.Run("4 as_dict", func(t *testing.T) {
			for _, row := range s.Admin.Get(todo, "as_dict", "False", "fields", []string{"name", "status"}).List(t) {
				if values, ok := row.([]any); !ok || len(values) != 2 || values[1] != "Open" {
					t.Fatalf("row %v", row)
				}
			}
		})
		t.Run("5 fields", func(t *testing.T) {
			for _, row := range s.Admin.Get(todo, "fields", []string{"description"}).List(t) {
				if r := row.(obj); len(r) != 1 || r["description"] == nil {
					t.Fatalf("row %v", r)
				}
			}
		})
		t.Run("9 run_method of a document method", func(t *testing.T) {
			s.Guest.Get(todo+"/x", "run_method", "nothing").Fails(t, 403, "PermissionError")
		})
		t.Run("10 unknown path", func(t *testing.T) {
			s.Admin.Get("/api/rest").Fails(t, 404, "DoesNotExistError")
		})
		t.Run("11 missing document", func(t *testing.T) {
			r := s.Admin.Get("/api/resource/User/NonExistent@s.com").Fails(t, 404, "DoesNotExistError")
			if r.Body["exc"] != nil || r.Body["exception"] != nil {
				t.Errorf("a 404 carries no trace: %s", r.Text)
			}
		})
		t.Run("12 every row", func(t *testing.T) {
			if rows := s.Admin.Get(todo, "limit_page_length", "0").List(t); len(rows) != 25 {
				t.Errorf("%d rows", len(rows))
			}
		})
		t.Run("13 like", func(t *testing.T) {
			names := s.Admin.Get("/api/resource/DocType", "filters", filters([]any{"name", "like", "J%"})).Column(t, "name")
			if slices.Contains(names, "DocType") {
				t.Errorf("names %v", names)
			}
		})
		t.Run("14 in with commas", func(t *testing.T) {
			names := s.Admin.Get("/api/resource/DocType", "filters", filters([]any{"name", "in", "DocType,DocField"}), "order_by", "name asc").Column(t, "name")
			if !reflect.DeepEqual(names, []any{"DocField", "DocType"}) {
				t.Errorf("names %v", names)
			}
		})
		t.Run("15 child table with or_filters", func(t *testing.T) {
			names := s.Admin.Get("/api/resource/DocField", "parent", "DocType", "fields", []string{"fieldname"}, "limit", "0",
				"filters", filters([]any{"parent", "=", "DocType"}),
				"or_filters", filters([]any{"fieldtype", "=", "Table"}, []any{"fieldtype", "=", "Select"})).Column(t, "fieldname")
			if !slices.Contains(names, "fields") || !slices.Contains(names, "document_type") || slices.Contains(names, "issingle") {
				t.Errorf("names %v", names)
			}
		})
		t.Run("17 is not set", func(t *testing.T) {
			rows := s.Admin.Get("/api/resource/DocType", "fields", []string{"name", "autoname"}, "limit", "0",
				"filters", filters([]any{"autoname", "is", "not set"})).List(t)
			for _, row := range rows {
				if v := row.(obj)["autoname"]; v != nil && v != "" {
					t.Errorf("row %v", row)
				}
			}
		})
		t.Run("18 SQL in fields", func(t *testing.T) {
			s.Admin.Get(todo, "fields", []string{"name", "issingle, version()"}).Fails(t, 417, "DataError")
		})
		t.Run("19 SQL in order_by", func(t *testing.T) {
			if r := s.Admin.Get(todo, "order_by", "(select 1) asc"); r.Status != 417 {
				t.Errorf("status %d: %s", r.Status, r.Text)
			}
		})
	})
}

func TestCasesOfWriting(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		t.Run("6 create", func(t *testing.T) {
			d := s.Admin.Post(todo, obj{"description": "x"}).Data(t)
			want := obj{"status": "Open", "priority": "Medium", "docstatus": 0.0, "idx": 0.0, "owner": "Administrator",
				"modified_by": "Administrator", "doctype": "ToDo"}
			for k, v := range want {
				if d[k] != v {
					t.Errorf("%s is %v, want %v", k, d[k], v)
				}
			}
			stamp := regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$`)
			if name, _ := d["name"].(string); name == "" || !stamp.MatchString(d["creation"].(string)) || d["modified"] != d["creation"] {
				t.Errorf("document %v", d)
			}
		})
		t.Run("7 update", func(t *testing.T) {
			before := s.Admin.Post(todo, obj{"description": "x"}).Data(t)
			path := todo + "/" + before["name"].(string)
			put := s.Admin.Put(path, obj{"description": "y"}).Data(t)
			got := s.Admin.Get(path).Data(t)
			if put["description"] != "y" || got["description"] != "y" || got["modified"].(string) <= before["modified"].(string) {
				t.Errorf("before %v, put %v, got %v", before, put, got)
			}
		})
		t.Run("8 delete", func(t *testing.T) {
			path := todo + "/" + newToDo(t, s.Admin, nil)
			if r := s.Admin.Delete(path); r.Status != 202 || r.Body["message"] != "ok" {
				t.Errorf("%d %s", r.Status, r.Text)
			}
			s.Admin.Get(path).Fails(t, 404, "DoesNotExistError")
		})
		t.Run("27 mandatory", func(t *testing.T) {
			r := s.Admin.Post(todo, obj{}).Fails(t, 417, "MandatoryError")
			if !strings.Contains(r.Told(t), "description") {
				t.Errorf("told %s", r.Told(t))
			}
		})
		t.Run("28 select", func(t *testing.T) {
			s.Admin.Post(todo, obj{"description": "x", "status": "Nope"}).Fails(t, 417, "ValidationError")
		})
		t.Run("29 link", func(t *testing.T) {
			s.Admin.Post(todo, obj{"description": "x", "allocated_to": "nobody@x.y"}).Fails(t, 417, "LinkValidationError")
		})
		t.Run("30 length", func(t *testing.T) {
			s.Admin.Post(todo, obj{"description": "x", "color": strings.Repeat("c", 500)}).Fails(t, 417, "CharacterLengthExceededError")
		})
		t.Run("31 stale modified", func(t *testing.T) {
			path := todo + "/" + newToDo(t, s.Admin, nil)
			read := s.Admin.Get(path).Data(t)["modified"]
			s.Admin.Put(path, obj{"description": "first", "modified": read}).OK(t)
			s.Admin.Put(path, obj{"description": "second", "modified": read}).Fails(t, 417, "TimestampMismatchError")
			s.Admin.Put(path, obj{"description": "third"}).OK(t)
		})
		t.Run("32 constants", func(t *testing.T) {
			path := todo + "/" + newToDo(t, s.Admin, nil)
			s.Admin.Put(path, obj{"owner": "Guest"}).Fails(t, 417, "CannotChangeConstantError")
			s.Admin.Put(path, obj{"creation": "2020-01-01 00:00:00"}).Fails(t, 417, "CannotChangeConstantError")
		})
		t.Run("41 delete what is linked", func(t *testing.T) {
			s.Admin.Post("/api/resource/Role", obj{"role_name": "Tester", "desk_access": 1}).OK(t)
			s.User(t, "tester@example.com", "Tester")
			s.Admin.Delete("/api/resource/Role/Tester").Fails(t, 417, "LinkExistsError")
		})
	})
}

func TestCasesOfLinksAndTables(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		note := s.Admin.Post("/api/resource/Note", obj{"title": "seen", "seen_by": []obj{{"user": "Administrator"}}}).Data(t)
		s.Admin.Post("/api/resource/Note", obj{"title": "unseen"}).OK(t)
		s.User(t, "jane@example.com")
		newToDo(t, s.Admin, obj{"allocated_to": "jane@example.com"})

		t.Run("20 child column", func(t *testing.T) {
			rows := s.Admin.Get("/api/resource/Note", "fields", []string{"name", "seen_by.user as seen_by"}, "order_by", "title asc").List(t)
			if got := rows[0].(obj); got["name"] != note["name"] || got["seen_by"] != "Administrator" {
				t.Errorf("rows %v", rows)
			}
		})
		t.Run("21 linked column", func(t *testing.T) {
			got := s.Admin.Get(todo, "fields", []string{"name", "allocated_to.email as mail"}).Column(t, "mail")
			if !reflect.DeepEqual(got, []any{"jane@example.com"}) {
				t.Errorf("mail %v", got)
			}
		})
		t.Run("22 filter by child table", func(t *testing.T) {
			got := s.Admin.Get("/api/resource/Note", "filters", filters([]any{"Note Seen By", "user", "=", "Administrator"})).Column(t, "name")
			if !reflect.DeepEqual(got, []any{note["name"]}) {
				t.Errorf("names %v", got)
			}
		})
		t.Run("24 expand", func(t *testing.T) {
			row := s.Admin.Get(todo, "fields", []string{"name", "allocated_to"}, "expand", []string{"allocated_to"}).List(t)[0].(obj)
			if user, ok := row["allocated_to"].(obj); !ok || user["name"] != "jane@example.com" {
				t.Errorf("row %v", row)
			}
		})
		t.Run("25 expand_links", func(t *testing.T) {
			name := newToDo(t, s.Admin, nil)
			d := s.Admin.Get(todo+"/"+name, "expand_links", "True").Data(t)
			p, ok := d["priority"].(obj)
			if !ok || p["name"] != "Medium" || p["title"] != "Medium" || p["creation"] == nil {
				t.Errorf("priority %v", d["priority"])
			}
		})
		t.Run("26 permission levels", func(t *testing.T) {
			s.Admin.Post("/api/resource/Role", obj{"role_name": "Scribe", "desk_access": 1}).OK(t)
			desk := s.User(t, "desk@example.com", "Scribe")
			desk.Post("/api/resource/Note", obj{"title": "mine", "public": 1}).OK(t)
			row := desk.Get("/api/resource/Note", "fields", []string{"title", "public"}).List(t)[0].(obj)
			if _, there := row["public"]; there || row["title"] != "mine" {
				t.Errorf("row %v", row)
			}
		})
		t.Run("42 child rows are replaced", func(t *testing.T) {
			d := s.Admin.Post("/api/resource/Note", obj{"title": "two", "seen_by": []obj{{"user": "Administrator"}, {"user": "jane@example.com"}}}).Data(t)
			second := d["seen_by"].([]any)[1].(obj)
			d = s.Admin.Put("/api/resource/Note/"+d["name"].(string), obj{"seen_by": []obj{{"name": second["name"], "user": second["user"]}}}).Data(t)
			rows := d["seen_by"].([]any)
			if len(rows) != 1 || rows[0].(obj)["name"] != second["name"] || rows[0].(obj)["idx"] != 1.0 || rows[0].(obj)["parent"] != d["name"] {
				t.Errorf("rows %v", rows)
			}
			again := s.Admin.Get("/api/resource/Note/" + d["name"].(string)).Data(t)
			if !reflect.DeepEqual(again["seen_by"], d["seen_by"]) {
				t.Errorf("stored %v, answered %v", again["seen_by"], d["seen_by"])
			}
		})
	})
}

func TestCasesOfDocTypes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		t.Run("16 between whole days", func(t *testing.T) {
			newDocType(t, s.Admin, "Happening", []obj{{"fieldname": "at", "fieldtype": "Datetime"}}, nil)
			for _, at := range []string{"2016-07-05 23:59:59", "2016-07-06 00:00:00", "2016-07-07 23:59:59", "2016-07-08 00:00:00"} {
				s.Admin.Post("/api/resource/Happening", obj{"at": at}).OK(t)
			}
			got := s.Admin.Get("/api/resource/Happening", "fields", []string{"at"}, "order_by", "at asc",
				"filters", filters([]any{"at", "between", []string{"2016-07-06", "2016-07-07"}})).Column(t, "at")
			if !reflect.DeepEqual(got, []any{"2016-07-06 00:00:00", "2016-07-07 23:59:59"}) {
				t.Errorf("got %v", got)
			}
		})
		t.Run("23 descendants of", func(t *testing.T) {
			newDocType(t, s.Admin, "Place", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"is_tree": 1, "autoname": "field:title"})
			for _, pair := range [][2]string{{"Root", ""}, {"Level 1 A", "Root"}, {"Level 1 B", "Root"}, {"Level 2 A", "Level 1 A"}, {"Level 3 A", "Level 2 A"}} {
				body := obj{"title": pair[0], "is_group": 1}
				if pair[1] != "" {
					body["parent_place"] = pair[1]
				}
				s.Admin.Post("/api/resource/Place", body).OK(t)
			}
			tests := []struct {
				op, node string
				want     []any
			}{
				{"descendants of", "Level 1 A", []any{"Level 2 A", "Level 3 A"}},
				{"descendants of (inclusive)", "Level 1 A", []any{"Level 1 A", "Level 2 A", "Level 3 A"}},
				{"not descendants of", "Level 1 A", []any{"Level 1 A", "Level 1 B", "Root"}},
				{"ancestors of", "Level 3 A", []any{"Level 1 A", "Level 2 A", "Root"}},
				{"not ancestors of", "Root", []any{"Level 1 A", "Level 1 B", "Level 2 A", "Level 3 A", "Root"}},
			}
			for _, tt := range tests {
				got := s.Admin.Get("/api/resource/Place", "order_by", "name asc", "filters", filters([]any{"name", tt.op, tt.node})).Column(t, "name")
				if !reflect.DeepEqual(got, tt.want) {
					t.Errorf("%s %s: %v", tt.op, tt.node, got)
				}
			}
			s.Admin.Put("/api/resource/Place/Root", obj{"parent_place": "Level 3 A"}).Fails(t, 417, "ValidationError")
		})
		t.Run("33 duplicate name", func(t *testing.T) {
			newDocType(t, s.Admin, "Code", []obj{{"fieldname": "code", "fieldtype": "Data"}}, obj{"autoname": "field:code"})
			s.Admin.Post("/api/resource/Code", obj{"code": "A"}).OK(t)
			r := s.Admin.Post("/api/resource/Code", obj{"code": "A"}).Fails(t, 409, "DuplicateEntryError")
			if r.Told(t) != "Code A already exists" {
				t.Errorf("told %q", r.Told(t))
			}
		})
		t.Run("34 bad names", func(t *testing.T) {
			newDocType(t, s.Admin, "Tag", nil, obj{"autoname": "Prompt"})
			for _, name := range []string{"Tag", "New Tag", "Tag<>"} {
				s.Admin.Post("/api/resource/Tag", obj{"name": name}).Fails(t, 409, "NameError")
			}
			s.Admin.Post("/api/resource/Tag", obj{}).Fails(t, 417, "ValidationError")
		})
		t.Run("35 expression", func(t *testing.T) {
			newDocType(t, s.Admin, "Formatted", []obj{{"fieldname": "some_fieldname", "fieldtype": "Data"}},
				obj{"autoname": "format:TODO-{MM}-{some_fieldname}-{##}"})
			for n := 1; n <= 2; n++ {
				name := s.Admin.Post("/api/resource/Formatted", obj{"some_fieldname": "Format"}).Data(t)["name"]
				if want := fmt.Sprintf("TODO-%02d-Format-%02d", int(time.Now().UTC().Month()), n); name != want {
					t.Errorf("name %v, want %s", name, want)
				}
			}
		})
		t.Run("36 autoincrement", func(t *testing.T) {
			newDocType(t, s.Admin, "Numbered", nil, obj{"autoname": "autoincrement"})
			for n := 1.0; n <= 3; n++ {
				if name := s.Admin.Post("/api/resource/Numbered", obj{}).Data(t)["name"]; name != n {
					t.Errorf("name %v, want %v", name, n)
				}
			}
			s.Admin.Get("/api/resource/Numbered/2").OK(t)
			if names := s.Admin.Get("/api/resource/Numbered", "order_by", "name asc").Column(t, "name"); !reflect.DeepEqual(names, []any{1.0, 2.0, 3.0}) {
				t.Errorf("names %v", names)
			}
		})
		t.Run("37 to 40 submitting", func(t *testing.T) { submitting(t, s) })
		t.Run("43 a DocType at run time", func(t *testing.T) {
			newDocType(t, s.Admin, "Book", []obj{{"fieldname": "title", "fieldtype": "Data", "reqd": 1}, {"fieldname": "pages", "fieldtype": "Int"}}, nil)
			d := s.Admin.Post("/api/resource/Book", obj{"title": "Dune", "pages": 412}).Data(t)
			path := "/api/resource/Book/" + d["name"].(string)
			if got := s.Admin.Put(path, obj{"pages": "413"}).Data(t)["pages"]; got != 413.0 {
				t.Errorf("pages %v", got)
			}
			if got := s.Admin.Get("/api/resource/Book", "fields", []string{"*"}).List(t)[0].(obj); got["title"] != "Dune" {
				t.Errorf("row %v", got)
			}
			if r := s.Admin.Delete(path); r.Status != 202 {
				t.Errorf("%d %s", r.Status, r.Text)
			}
		})
	})
}

func submitting(t *testing.T, s *sitetest.Server) {
	newDocType(t, s.Admin, "Contract", []obj{
		{"fieldname": "terms", "fieldtype": "Data"}, {"fieldname": "remark", "fieldtype": "Data", "allow_on_submit": 1},
	}, obj{"is_submittable": 1, "permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1,
		"submit": 1, "cancel": 1, "amend": 1}}})
	name := s.Admin.Post("/api/resource/Contract", obj{"terms": "a"}).Data(t)["name"].(string)
	path := "/api/resource/Contract/" + name
	s.Admin.Put(path, obj{"docstatus": 2}).Fails(t, 417, "DocstatusTransitionError")
	s.Admin.Put(path, obj{"docstatus": 1}).OK(t)
	s.Admin.Put(path, obj{"docstatus": 0}).Fails(t, 417, "DocstatusTransitionError")
	s.Admin.Put(path, obj{"terms": "b"}).Fails(t, 417, "UpdateAfterSubmitError")
	s.Admin.Put(path, obj{"remark": "fine"}).OK(t)
	s.Admin.Delete(path).Fails(t, 417, "ValidationError")
	s.Admin.Put(path, obj{"docstatus": 2}).OK(t)
	s.Admin.Put(path, obj{"remark": "more"}).Fails(t, 417, "ValidationError")
	amended := s.Admin.Post("/api/resource/Contract", obj{"terms": "c", "amended_from": name}).Data(t)
	if amended["name"] != name+"-1" {
		t.Errorf("name %v", amended["name"])
	}
	s.Admin.Post(todo, obj{"description": "x", "docstatus": 1}).Fails(t, 417, "DocstatusTransitionError")
}

func TestOddNames(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Odd", []obj{{"fieldname": "note", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		for _, name := range []string{"a/b", "a%2Fb", `quo"te's`, "emoji 🦀", "semi;colon--", "per%cent", "plus+sign", "問い合わせ", "a b", "back\\slash", "q?x=1#y", "../up", "%"} {
			t.Run(name, func(t *testing.T) {
				c := s.Admin.On(t)
				if got := c.Post("/api/resource/Odd", obj{"name": name, "note": name}).Data(t)["name"]; got != name {
					t.Fatalf("created %q", got)
				}
				path := "/api/resource/Odd/" + url.PathEscape(name)
				if got := c.Get(path).Data(t); got["name"] != name || got["note"] != name {
					t.Errorf("read %v", got)
				}
				if got := c.Get("/api/resource/Odd", "filters", filters([]any{"name", "=", name}), "fields", []string{"note"}).Column(t, "note"); !reflect.DeepEqual(got, []any{name}) {
					t.Errorf("listed %v", got)
				}
				c.Put(path, obj{"note": "changed"}).OK(t)
				if r := c.Delete(path); r.Status != 202 {
					t.Errorf("%d %s", r.Status, r.Text)
				}
			})
		}
	})
}
