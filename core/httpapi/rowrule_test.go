package httpapi_test

import (
	"reflect"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// helpdesk has tickets of customers, and replies of which some are internal.
func helpdesk(t *testing.T, s *sitetest.Server) (ann, ben *sitetest.Client) {
	t.Helper()
	manager := obj{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}
	newDocType(t, s.Admin, "Customer", []obj{{"fieldname": "login", "fieldtype": "Link", "options": "User"}}, obj{"autoname": "Prompt", "permissions": []obj{manager}})
	newDocType(t, s.Admin, "Watcher", []obj{{"fieldname": "user", "fieldtype": "Link", "options": "User"}, {"fieldname": "until", "fieldtype": "Date"}}, obj{"istable": 1})
	newDocType(t, s.Admin, "Ticket", []obj{
		{"fieldname": "customer", "fieldtype": "Link", "options": "Customer"}, {"fieldname": "state", "fieldtype": "Data"},
		{"fieldname": "watchers", "fieldtype": "Table", "options": "Watcher"},
	}, obj{"autoname": "Prompt", "permissions": []obj{manager,
		{"role": "All", "read": 1, "condition": `[["customer.login","=","$user"]]`},
		{"role": "All", "read": 1, "condition": `[["watchers","has",[["user","=","$user"],["until",">=","$today"]]]]`},
		{"role": "All", "write": 1, "create": 1, "delete": 1, "condition": `[["customer.login","=","$user"],["state","!=","closed"]]`},
	}})
	newDocType(t, s.Admin, "Reply", []obj{
		{"fieldname": "ticket", "fieldtype": "Link", "options": "Ticket"}, {"fieldname": "internal", "fieldtype": "Check"}, {"fieldname": "text", "fieldtype": "Data"},
	}, obj{"autoname": "Prompt", "permissions": []obj{manager,
		{"role": "All", "read": 1, "condition": `{"ticket.customer.login": "$user", "internal": 0}`}}})
	ann, ben = s.User(t, "ann@example.com"), s.User(t, "ben@example.com")
	for _, who := range []string{"ann", "ben"} {
		s.Admin.Post("/api/resource/Customer", obj{"name": who, "login": who + "@example.com"}).OK(t)
		s.Admin.Post("/api/resource/Ticket", obj{"name": who + "'s", "customer": who, "state": "open"}).OK(t)
		s.Admin.Post("/api/resource/Reply", obj{"name": "to " + who, "ticket": who + "'s", "text": "hello"}).OK(t)
		s.Admin.Post("/api/resource/Reply", obj{"name": "about " + who, "ticket": who + "'s", "internal": 1, "text": "hm"}).OK(t)
	}
	s.Admin.Post("/api/resource/Ticket", obj{"name": "watched", "customer": "ben", "state": "open", "watchers": []obj{
		{"user": "ann@example.com", "until": "2999-01-01"}, {"user": "ben@example.com", "until": "2001-01-01"}}}).OK(t)
	s.Admin.Post("/api/resource/Ticket", obj{"name": "was watched", "customer": "ben", "state": "open", "watchers": []obj{{"user": "ann@example.com", "until": "2001-01-01"}}}).OK(t)
	return ann, ben
}

func TestRowRules(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann, ben := helpdesk(t, s)
		const tickets, replies = "/api/resource/Ticket", "/api/resource/Reply"
		see := func(c *sitetest.Client, path string, want ...any) {
			t.Helper()
			if got := c.Get(path, "order_by", "name asc").Column(t, "name"); !reflect.DeepEqual(got, append([]any{}, want...)) {
				t.Errorf("%s: %v, want %v", path, got, want)
			}
			doctype := path[strings.LastIndexByte(path, '/')+1:]
			if got := c.Get(client+"get_count", "doctype", doctype).Message(t); got != float64(len(want)) {
				t.Errorf("%s: counted %v", path, got)
			}
			all := s.Admin.Get(path).Column(t, "name")
			for _, name := range all {
				seen := false
				for _, w := range want {
					seen = seen || w == name
				}
				if status := c.Get(path + "/" + name.(string)).Status; (status == 200) != seen {
					t.Errorf("%s %s by itself: %d", path, name, status)
				}
			}
		}
		see(ann, tickets, "ann's", "watched")
		see(ben, tickets, "ben's", "was watched", "watched")
		see(ann, replies, "to ann")
		see(ben, replies, "to ben")

		// Through links and as rows a document is seen as it is by itself.
		if got := ann.Get("/api/resource/Watcher", "parent", "Ticket", "fields", []string{"parent"}).Column(t, "parent"); !reflect.DeepEqual(got, []any{"watched", "watched"}) {
			t.Errorf("rows %v", got)
		}
		// Write: before and after the change.
		ann.Put(tickets+"/ann's", obj{"state": "waiting"}).OK(t)
		ann.Put(tickets+"/watched", obj{"state": "x"}).Fails(t, 403, "PermissionError")
		ann.Put(tickets+"/ann's", obj{"customer": "ben"}).Fails(t, 403, "PermissionError")
		ann.Put(tickets+"/ann's", obj{"state": "closed"}).Fails(t, 403, "PermissionError")
		s.Admin.Put(tickets+"/ann's", obj{"state": "closed"}).OK(t)
		ann.Put(tickets+"/ann's", obj{"state": "open"}).Fails(t, 403, "PermissionError")
		ann.Delete(tickets+"/ann's").Fails(t, 403, "PermissionError")
		// Create.
		ann.Post(tickets, obj{"name": "n1", "customer": "ann", "state": "open"}).OK(t)
		ann.Post(tickets, obj{"name": "n2", "customer": "ben", "state": "open"}).Fails(t, 403, "PermissionError")
		ann.Post(tickets, obj{"name": "n3", "state": "open"}).Fails(t, 403, "PermissionError")
		ben.Delete(tickets+"/n1").Fails(t, 403, "PermissionError")
		if r := ann.Delete(tickets + "/n1"); r.Status != 202 {
			t.Errorf("delete: %d %s", r.Status, r.Text)
		}
		// A share opens what no rule does.
		s.Admin.Post("/api/resource/DocShare", obj{"user": "ann@example.com", "share_doctype": "Ticket", "share_name": "ben's"}).OK(t)
		see(ann, tickets, "ann's", "ben's", "watched")
		// User Permissions narrow what rules give.
		s.Admin.Post("/api/resource/User Permission", obj{"user": "ben@example.com", "allow": "Ticket", "for_value": "watched"}).OK(t)
		see(ben, tickets, "watched")
		see(ben, replies)

		x := ann.Get(client+"explain_permission", "doctype", "Ticket", "name", "watched").Message(t).(obj)
		if because := x["because"].([]any); x["allowed"] != true || !strings.Contains(because[len(because)-1].(string), `"watchers","has"`) {
			t.Errorf("explained %v", x)
		}
		x = ann.Get(client+"explain_permission", "doctype", "Ticket", "name", "was watched").Message(t).(obj)
		if x["allowed"] != false {
			t.Errorf("explained %v", x)
		}
	})
}

func TestRowRulesThatAreNone(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		helpdesk(t, s)
		body := func(condition string) obj {
			return obj{"name": "Ruled", "module": "Custom", "custom": 1,
				"fields": []obj{{"fieldname": "ticket", "fieldtype": "Link", "options": "Ticket"}, {"fieldname": "n", "fieldtype": "Int"},
					{"fieldname": "secret", "fieldtype": "Password"}, {"fieldname": "on", "fieldtype": "Date"}, {"fieldname": "rows", "fieldtype": "Table", "options": "Watcher"}},
				"permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "All", "read": 1, "condition": condition}}}
		}
		for _, bad := range []string{
			`nonsense`, `{`, `[]`, `{}`, `[[]]`, `"name"`, `5`, `["a","b"]`, `[["none","=",1]]`, `[["ticket.none","=",1]]`, `[["n.x","=",1]]`, `[["none.x","=",1]]`,
			`[["n","is about",1]]`, `[["secret","=","x"]]`, `[["n","=","words"]]`, `[["on","=","yesterday-ish"]]`, `[["owner","=","$me"]]`, `[["owner","=","$roles"]]`,
			`[["rows","=","x"]]`, `[["ticket","has",[["state","=","x"]]]]`, `[["rows","has",[["none","=",1]]]]`, `[["rows","has",5]]`,
			`[["ticket","descendants of","x"]]`, `[["a.b.c.d.e.f","=",1]]`, `[["sleep(1)","=",1]]`, `[["n; drop table x","=",1]]`, `[["n","=",{"a":1}]]`,
			"[[\"`tabTicket`.state\",\"=\",\"x\"]]",
		} {
			s.Admin.Post("/api/resource/DocType", body(bad)).Fails(t, 417, "ValidationError")
		}
		level := body(`[["n","=",1]]`)
		level["permissions"] = append(level["permissions"].([]obj), obj{"role": "All", "permlevel": 1, "read": 1, "condition": `[["n","=",1]]`})
		s.Admin.Post("/api/resource/DocType", level).Fails(t, 417, "ValidationError")

		// Two DocTypes whose rules name each other: both are seen, and nothing hangs.
		s.Admin.Post("/api/resource/DocType", body(`[["ticket.state","=","open"]]`)).OK(t)
		ticket := s.Admin.Get("/api/resource/DocType/Ticket").Data(t)
		fields := append(ticket["fields"].([]any), obj{"fieldname": "ruled", "fieldtype": "Link", "options": "Ruled"})
		s.Admin.Put("/api/resource/DocType/Ticket", obj{"fields": fields, "permissions": []obj{
			{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "All", "read": 1, "condition": `[["ruled.n","=",7]]`}}}).OK(t)
		s.Admin.Post("/api/resource/Ruled", obj{"ticket": "ann's", "n": 7}).OK(t)
		ann := s.As(t, "ann@example.com")
		if got := ann.Get("/api/resource/Ruled", "fields", []string{"n", "ticket.state"}).List(t); !reflect.DeepEqual(got, []any{obj{"n": 7.0, "state": nil}}) {
			t.Errorf("rules that name each other: %v", got)
		}
		// A field that a rule reads is not taken away from under it.
		ticket = s.Admin.Get("/api/resource/DocType/Ticket").Data(t)
		kept := []any{}
		for _, f := range ticket["fields"].([]any) {
			if f.(obj)["fieldname"] != "state" {
				kept = append(kept, f)
			}
		}
		s.Admin.Put("/api/resource/DocType/Ticket", obj{"fields": kept}).Fails(t, 417, "ValidationError")
	})
}
