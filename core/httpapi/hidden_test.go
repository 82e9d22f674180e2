package httpapi_test

import (
	"fmt"
	"net/url"
	"reflect"
	"testing"

	"armature/core/sites/sitetest"
)

// hiddenSite has orders with lines, a table of level 1 and fields of level 1,
// projects of which a User Permission hides one, and a tree with a hidden node.
func hiddenSite(t *testing.T, s *sitetest.Server) (ann *sitetest.Client) {
	t.Helper()
	rules := func(more ...obj) []obj {
		return append([]obj{
			{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1},
			{"role": "System Manager", "permlevel": 1, "read": 1, "write": 1},
			{"role": "All", "read": 1, "write": 1, "create": 1},
		}, more...)
	}
	link := func(name, to string) obj { return obj{"fieldname": name, "fieldtype": "Link", "options": to} }
	newDocType(t, s.Admin, "Area", []obj{{"fieldname": "size", "fieldtype": "Int"}}, obj{"is_tree": 1, "autoname": "Prompt", "permissions": rules()})
	newDocType(t, s.Admin, "Project", []obj{{"fieldname": "budget", "fieldtype": "Int"}, {"fieldname": "margin", "fieldtype": "Int", "permlevel": 1}},
		obj{"autoname": "Prompt", "permissions": rules(), "sort_field": "margin"})
	newDocType(t, s.Admin, "Line", []obj{{"fieldname": "item", "fieldtype": "Data"}, {"fieldname": "cost", "fieldtype": "Int", "permlevel": 1}, link("project", "Project")},
		obj{"istable": 1})
	newDocType(t, s.Admin, "Order", []obj{
		link("project", "Project"), link("area", "Area"), {"fieldname": "title", "fieldtype": "Data"},
		{"fieldname": "copied", "fieldtype": "Int", "fetch_from": "project.budget"},
		{"fieldname": "margin", "fieldtype": "Int", "fetch_from": "project.margin"},
		{"fieldname": "lines", "fieldtype": "Table", "options": "Line"},
		{"fieldname": "secret_lines", "fieldtype": "Table", "options": "Line", "permlevel": 1},
	}, obj{"autoname": "Prompt", "permissions": rules()})
	// Mine is a DocType of which everybody reads their own.
	newDocType(t, s.Admin, "Mine", []obj{{"fieldname": "rows", "fieldtype": "Table", "options": "Line"}, {"fieldname": "text", "fieldtype": "Data"}},
		obj{"autoname": "Prompt", "permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "All", "read": 1, "create": 1, "if_owner": 1}}})
	newDocType(t, s.Admin, "Points At Mine", []obj{link("mine", "Mine")}, obj{"autoname": "Prompt", "permissions": rules()})

	for i, name := range []string{"open", "hidden"} {
		s.Admin.Post("/api/resource/Project", obj{"name": name, "budget": 10 + i, "margin": 1 + i}).OK(t)
	}
	for _, n := range [][2]string{{"World", ""}, {"North", "World"}, {"Oslo", "North"}, {"South", "World"}, {"Rome", "South"}} {
		s.Admin.Post("/api/resource/Area", obj{"name": n[0], "parent_area": n[1]}).OK(t)
	}
	for i, o := range [][2]string{{"a", "open"}, {"b", "open"}} {
		line := func(n int) obj {
			return obj{"item": fmt.Sprintf("%s%d", o[0], n), "cost": 100*(i+1) + n, "project": "hidden"}
		}
		s.Admin.Post("/api/resource/Order", obj{"name": o[0], "title": "t", "project": o[1], "area": []string{"Oslo", "Rome"}[i],
			"lines": []obj{line(1), line(2)}, "secret_lines": []obj{line(3), line(4), line(5)}}).OK(t)
	}
	ann = s.User(t, "ann@example.com")
	for _, p := range []obj{{"allow": "Order", "for_value": "a"}, {"allow": "Project", "for_value": "open"}} {
		p["user"] = "ann@example.com"
		s.Admin.Post("/api/resource/User Permission", p).OK(t)
	}
	return ann
}

func TestHiddenParents(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := hiddenSite(t, s)
		lines := "/api/resource/Line"
		got := ann.Get(lines, "parent", "Order", "fields", []string{"parent", "item", "cost", "parentfield"}, "order_by", "item asc").List(t)
		want := []any{
			obj{"parent": "a", "item": "a1", "parentfield": "lines"}, obj{"parent": "a", "item": "a2", "parentfield": "lines"},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("rows of orders: %v", got)
		}
		if got := ann.Get(client+"get_count", "doctype", "Line", "parent", "Order").Message(t); got != 2.0 {
			t.Errorf("count %v", got)
		}
		if got := ann.Post(client+"get_list", obj{"doctype": "Line", "parent": "Order", "fields": []string{"*"}}).Message(t).([]any); len(got) != 2 || got[0].(obj)["cost"] != nil {
			t.Errorf("get_list %v", got)
		}
		if got := ann.Get(client+"get_value", "doctype", "Line", "parent", "Order", "filters", `{"item":"b1"}`, "fieldname", "item").Message(t); len(got.(obj)) != 0 {
			t.Errorf("get_value %v", got)
		}
		for _, arg := range [][2]string{{"filters", `[["cost",">",0]]`}, {"order_by", "cost"}, {"group_by", "cost"}} {
			ann.Get(lines, "parent", "Order", arg[0], arg[1]).Fails(t, 403, "PermissionError")
		}
		if got := s.Admin.Get(lines, "parent", "Order", "fields", []string{"cost"}, "filters", `[["cost",">",0]]`).List(t); len(got) != 10 {
			t.Errorf("the Administrator sees %d rows", len(got))
		}
		// Of what only owners read, the rows are the owners' too, and shares open them.
		for _, name := range []string{"m1", "m2"} {
			s.Admin.Post("/api/resource/Mine", obj{"name": name, "rows": []obj{{"item": name}}}).OK(t)
		}
		ann.Post("/api/resource/Mine", obj{"name": "m3", "rows": []obj{{"item": "m3"}}}).OK(t)
		s.Admin.Post("/api/resource/DocShare", obj{"user": "ann@example.com", "share_doctype": "Mine", "share_name": "m2"}).OK(t)
		if got := ann.Get(lines, "parent", "Mine", "fields", []string{"item"}, "order_by", "item asc").Column(t, "item"); !reflect.DeepEqual(got, []any{"m2", "m3"}) {
			t.Errorf("rows of owners %v", got)
		}
		ann.Get(lines, "parent", "DocType").Fails(t, 403, "PermissionError")
		ann.Get(lines, "parent", "Project").Fails(t, 403, "PermissionError")
	})
}

func TestHiddenPaths(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := hiddenSite(t, s)
		newDocType(t, s.Admin, "Task", []obj{{"fieldname": "project", "fieldtype": "Link", "options": "Project", "ignore_user_permissions": 1}},
			obj{"autoname": "Prompt", "permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "All", "read": 1, "write": 1, "create": 1}}})
		for _, p := range []string{"open", "hidden", "none"} {
			s.Admin.Post("/api/resource/Task", obj{"name": "of " + p, "project": map[string]any{"open": "open", "hidden": "hidden"}[p]}).OK(t)
		}
		task := "/api/resource/Task"
		got := ann.Get(task, "fields", []string{"project", "project.budget"}, "order_by", "name asc").List(t)
		want := []any{obj{"project": "hidden", "budget": nil}, obj{"project": nil, "budget": nil}, obj{"project": "open", "budget": 10.0}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("through links %v", got)
		}
		for filter, n := range map[string]int{
			`[["project.budget","=",11]]`: 0, `[["project.budget",">",10]]`: 0, `[["project.budget","=",10]]`: 1, `[["project.budget","is","set"]]`: 1,
			`[["project.budget","!=",11]]`: 3, `[["project.budget","is","not set"]]`: 2, `[["project.budget","between",[11,11]]]`: 0,
			`[["project.budget","in",[11]]]`: 0, `[["project.budget","not in",[11]]]`: 3, `[["project.owner","like","%"]]`: 1, `[["project.name","=","hidden"]]`: 0,
		} {
			if got := ann.Get(task, "filters", filter).List(t); len(got) != n {
				t.Errorf("%s: %v", filter, got)
			}
			if got := ann.Get(client+"get_count", "doctype", "Task", "filters", filter).Message(t); got != float64(n) {
				t.Errorf("count of %s: %v", filter, got)
			}
		}
		if got := ann.Get(task, "fields", []string{"sum(project.budget) as n", "max(project.budget) as m"}).List(t); !reflect.DeepEqual(got, []any{obj{"n": 10.0, "m": 10.0}}) {
			t.Errorf("aggregates %v", got)
		}
		if got := ann.Get(task, "fields", []string{"count(name) as n"}, "group_by", "project.budget", "order_by", "n asc").Column(t, "n"); !reflect.DeepEqual(got, []any{1.0, 2.0}) {
			t.Errorf("groups %v", got)
		}
		// Order tells nothing either: what is hidden stands with what is empty.
		if got := ann.Get(task, "order_by", "project.budget desc, name asc").Column(t, "name"); !reflect.DeepEqual(got, []any{"of open", "of hidden", "of none"}) {
			t.Errorf("order %v", got)
		}
		// Expansion keeps the reference.
		if got := ann.Get(task, "fields", []string{"project"}, "expand", `["project"]`, "filters", `[["name","=","of hidden"]]`).Column(t, "project"); !reflect.DeepEqual(got, []any{"hidden"}) {
			t.Errorf("expand %v", got)
		}
		ann.Get(task+"/of%20hidden", "expand_links", "True").Fails(t, 403, "PermissionError")
		// An owner's documents are read through links as they are one by one.
		for _, name := range []string{"theirs", "mine"} {
			by := s.Admin
			if name == "mine" {
				by = ann
			}
			by.Post("/api/resource/Mine", obj{"name": name, "text": "of " + name}).OK(t)
			s.Admin.Post("/api/resource/Points At Mine", obj{"name": name, "mine": name}).OK(t)
		}
		if got := ann.Get("/api/resource/Points At Mine", "fields", []string{"mine.text"}, "order_by", "name asc").Column(t, "text"); !reflect.DeepEqual(got, []any{"of mine", nil}) {
			t.Errorf("owners through links %v", got)
		}
	})
}

func TestHiddenLevels(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := hiddenSite(t, s)
		order := "/api/resource/Order"
		for _, field := range []string{"`tabLine`.cost", "`tabLine`.`cost`", "lines.cost", "tabLine.cost", "secret_lines.item", "project.margin", "sum(lines.cost) as x", "max(secret_lines.cost) as x"} {
			got := ann.Get(order, "fields", []string{"name", field}, "limit", "0").List(t)
			if len(got) == 0 {
				t.Errorf("%s: no rows", field)
			}
			for _, row := range got {
				if !reflect.DeepEqual(row, obj{"name": "a"}) {
					t.Errorf("%s shows %v", field, row)
				}
			}
			if got := ann.Get(order, "fields", []string{"name", field}, "limit", "0").List(t); field != "lines.cost" && len(got) != 1 {
				t.Errorf("%s multiplies rows: %v", field, got)
			}
		}
		for _, field := range []string{"`tabLine`.cost", "lines.cost", "secret_lines.item", "project.margin"} {
			for name, arg := range map[string]string{
				"filters": `[["` + field + `",">",0]]`, "or_filters": `[["` + field + `",">",0]]`, "order_by": field + " desc", "group_by": field,
			} {
				ann.Get(order, name, arg).Fails(t, 403, "PermissionError")
			}
		}
		ann.Get(order, "filters", `[["Line","cost",">",0]]`).Fails(t, 403, "PermissionError")
		// The field that a DocType sorts by tells nobody who may not read it anything.
		s.Admin.Put("/api/resource/Project/open", obj{"budget": 12}).OK(t)
		s.Admin.Delete("/api/resource/User Permission/" + url.PathEscape(permission(t, s, "Project")))
		if got := ann.Get("/api/resource/Project").Column(t, "name"); !reflect.DeepEqual(got, []any{"open", "hidden"}) {
			t.Errorf("sorted by what is hidden: %v", got)
		}
		if got := s.Admin.Get("/api/resource/Project").Column(t, "name"); !reflect.DeepEqual(got, []any{"hidden", "open"}) {
			t.Errorf("sorted by margin: %v", got)
		}
	})
}

// permission is the name of the User Permission for a DocType.
func permission(t *testing.T, s *sitetest.Server, allow string) string {
	t.Helper()
	return s.Admin.Get("/api/resource/User Permission", "filters", `[["allow","=","`+allow+`"]]`).Column(t, "name")[0].(string)
}

func TestHiddenSources(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := hiddenSite(t, s)
		s.Admin.Delete("/api/resource/User Permission/" + url.PathEscape(permission(t, s, "Order")))
		s.Admin.Post("/api/resource/Project", obj{"name": "third", "budget": 33, "margin": 3}).OK(t)
		s.Admin.Post("/api/resource/User Permission", obj{"user": "ann@example.com", "allow": "Project", "for_value": "third", "apply_to_all_doctypes": 0, "applicable_for": "Project"}).OK(t)
		// Order is limited by permissions on Project as well; a link that is not
		// looked at leads to what the caller does not read.
		newDocType(t, s.Admin, "Ticket", []obj{
			{"fieldname": "project", "fieldtype": "Link", "options": "Project", "ignore_user_permissions": 1},
			{"fieldname": "copied", "fieldtype": "Int", "fetch_from": "project.budget"},
			{"fieldname": "margin", "fieldtype": "Int", "fetch_from": "project.margin"},
			{"fieldname": "note", "fieldtype": "Data"},
		}, obj{"autoname": "Prompt", "permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "All", "read": 1, "write": 1, "create": 1}}})
		ticket := "/api/resource/Ticket"
		if got := ann.Post(ticket, obj{"name": "t1", "project": "hidden", "copied": 5}).Data(t); got["copied"] != 0.0 {
			t.Errorf("copied from what is hidden: %v", got["copied"])
		}
		if got := ann.Post(ticket, obj{"name": "t2", "project": "open"}).Data(t); got["copied"] != 10.0 || got["margin"] != 0.0 {
			t.Errorf("copied %v, and of level 1 %v", got["copied"], got["margin"])
		}
		if got := s.Admin.Post(ticket, obj{"name": "t3", "project": "hidden"}).Data(t); got["copied"] != 11.0 || got["margin"] != 2.0 {
			t.Errorf("the Administrator copies %v, %v", got["copied"], got["margin"])
		}
		// What somebody else copied is neither lost nor forged by a later change.
		if got := ann.Put(ticket+"/t3", obj{"note": "x", "copied": 7}).Data(t); got["copied"] != 11.0 {
			t.Errorf("a change by who does not read the source made it %v", got["copied"])
		}
		if got := ann.Put(ticket+"/t2", obj{"project": "hidden"}).Data(t); got["copied"] != 0.0 {
			t.Errorf("led to what is hidden, it holds %v", got["copied"])
		}
	})
}

func TestHiddenNodes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := hiddenSite(t, s)
		s.Admin.Delete("/api/resource/User Permission/" + url.PathEscape(permission(t, s, "Order")))
		// Ann sees the world but not the North, and of it Oslo.
		for _, area := range []string{"World", "Oslo", "South", "Rome"} {
			s.Admin.Post("/api/resource/User Permission", obj{"user": "ann@example.com", "allow": "Area", "for_value": area, "hide_descendants": 1,
				"apply_to_all_doctypes": 0, "applicable_for": "Area"}).OK(t)
		}
		for filter, want := range map[string][]any{
			`[["name","descendants of","World"]]`:             {"Rome", "South"},
			`[["name","descendants of (inclusive)","World"]]`: {"Rome", "South", "World"},
			`[["name","not descendants of","World"]]`:         {"Oslo", "World"},
			`[["name","descendants of","North"]]`:             {},
			`[["name","ancestors of","Oslo"]]`:                {},
			`[["name","ancestors of","Rome"]]`:                {"South", "World"},
			`[["name","ancestors of","North"]]`:               {},
		} {
			if got := ann.Get("/api/resource/Area", "filters", filter, "order_by", "name asc").Column(t, "name"); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v", filter, got)
			}
		}
		for filter, want := range map[string][]any{
			`[["area","descendants of","World"]]`: {"b"},
			`[["area","descendants of","North"]]`: {},
			`[["area","ancestors of","Oslo"]]`:    {},
		} {
			if got := ann.Get("/api/resource/Order", "filters", filter, "order_by", "name asc").Column(t, "name"); !reflect.DeepEqual(got, want) {
				t.Errorf("orders %s: %v", filter, got)
			}
		}
	})
}
