package httpapi_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// attacks are texts that mean something to a database, wherever they end up in
// a statement as they are.
var attacks = []string{
	`name; DROP TABLE d_bait; --`, `name' OR '1'='1`, `name" OR 1=1 --`, "name` UNION SELECT value FROM d_bait --",
	`(SELECT value FROM d_bait)`, `1; DELETE FROM d_bait`, `name/**/OR/**/1=1`, `pg_sleep(5)`, `load_extension('x')`,
	`name COLLATE "C"`, `$1`, `?1`, `:name`, `name\' OR 1=1 --`, `d_bait.value`, `sqlite_master.sql`, `pg_catalog.version`,
	"name\x00", `name) OR (1=1`, `count(*) FILTER (WHERE 1=1)`, `CASE WHEN 1=1 THEN name END`, `{"$gt":""}`, `ＯＲ`,
}

// TestInjection puts every attack wherever a client can give a name, an operator
// or a value. Each is refused or taken literally: never a 5xx, never a row that
// the literal reading does not give, and the bait is unharmed.
func TestInjection(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Bait", []obj{{"fieldname": "value", "fieldtype": "Data"}, {"fieldname": "size", "fieldtype": "Int"}}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Bait", obj{"name": "bait", "value": "secret"}).OK(t)
		const path = "/api/resource/Bait"
		esc := url.PathEscape
		text := func(v any) string {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		places := []struct {
			name  string
			empty bool // no row comes, and nothing of the bait
			do    func(c *sitetest.Client, a string) *sitetest.Reply
		}{
			{"fields", true, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path, "fields", []string{a}) }},
			{"alias", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "fields", []string{"name as " + a})
			}},
			{"aggregate", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "fields", []obj{{a: "name", "as": "n"}})
			}},
			{"aggregate's field", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "fields", []obj{{"COUNT": a, "as": "n"}})
			}},
			{"aggregate's alias", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "fields", []obj{{"COUNT": "name", "as": a}})
			}},
			{"filter's field", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "filters", text([]any{[]any{a, "=", "x"}}))
			}},
			{"filter's operator", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "filters", text([]any{[]any{"name", a, "x"}}))
			}},
			{"filter's value", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "filters", text([]any{[]any{"name", "=", a}}))
			}},
			{"like's pattern", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "filters", text([]any{[]any{"name", "like", a}}))
			}},
			{"in's values", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "filters", text([]any{[]any{"name", "in", []string{a, a + "x"}}}))
			}},
			{"number's value", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "filters", text([]any{[]any{"size", ">", a}}))
			}},
			{"filter's DocType", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "filters", text([]any{[]any{a, "name", "=", "x"}}))
			}},
			{"or_filters", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "or_filters", text(obj{a: "x"}))
			}},
			{"filters as text", true, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path, "filters", a) }},
			{"order_by", false, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path, "order_by", a) }},
			{"order_by's direction", false, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path, "order_by", "name "+a) }},
			{"group_by", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(path, "group_by", a, "fields", []obj{{"COUNT": "name", "as": "n"}})
			}},
			{"limit", false, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path, "limit_page_length", a) }},
			{"limit_start", false, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path, "limit_start", a) }},
			{"parent", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get("/api/resource/DocField", "parent", a)
			}},
			{"expand", false, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path, "expand", []string{a}) }},
			{"DocType", true, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get("/api/resource/" + esc(a)) }},
			{"name", true, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path + "/" + esc(a)) }},
			{"name to delete", true, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Delete(path + "/" + esc(a)) }},
			{"method", true, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get("/api/method/" + esc(a)) }},
			{"document method", true, func(c *sitetest.Client, a string) *sitetest.Reply { return c.Get(path+"/bait", "run_method", a) }},
			{"get_value's field", true, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Get(client+"get_value", "doctype", "Bait", "fieldname", a, "filters", text(obj{"name": "x"}))
			}},
			{"set_value's field", false, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Post(client+"set_value", obj{"doctype": "Bait", "name": "bait", "fieldname": a, "value": "x"})
			}},
			{"key of a document", false, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Put(path+"/bait", obj{a: "x"})
			}},
			{"rename", false, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Post(client+"rename_doc", obj{"doctype": "Bait", "old_name": a, "new_name": "x"})
			}},
			{"table_name of a DocType", false, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Put("/api/resource/DocType/Bait", obj{"table_name": a})
			}},
			{"fieldname of a DocType", false, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Post("/api/resource/DocType", obj{"name": "Odd", "module": "Custom", "custom": 1,
					"fields": []obj{{"fieldname": a, "fieldtype": "Data"}}})
			}},
			{"name of a DocType", false, func(c *sitetest.Client, a string) *sitetest.Reply {
				return c.Post("/api/resource/DocType", obj{"name": a, "module": "Custom", "custom": 1})
			}},
		}
		for _, p := range places {
			t.Run(p.name, func(t *testing.T) {
				for _, a := range attacks {
					r := p.do(s.Admin.On(t), a)
					if r.Status >= 500 {
						t.Errorf("%q: %d %s", a, r.Status, r.Text)
					}
					rows, _ := r.Body["data"].([]any)
					if p.empty && (strings.Contains(r.Text, "secret") || r.Status == 200 && len(rows) > 0) {
						t.Errorf("%q got through: %s", a, r.Text)
					}
				}
				if got := s.Admin.On(t).Get(path + "/bait").Data(t); got["value"] != "secret" {
					t.Fatalf("the bait is harmed: %v", got)
				}
			})
		}
	})
}

// TestStoredAttacks keeps what looks like an attack as the text it is.
func TestStoredAttacks(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Bait", []obj{{"fieldname": "value", "fieldtype": "Code"}}, obj{"autoname": "Prompt"})
		for _, a := range attacks {
			if strings.ContainsAny(a, "\x00") {
				continue
			}
			c := s.Admin.On(t)
			path := "/api/resource/Bait/" + url.PathEscape(a)
			c.Post("/api/resource/Bait", obj{"name": a, "value": a}).OK(t)
			c.Put(path, obj{"value": a + a}).OK(t)
			if got := c.Get(path).Data(t); got["name"] != a || got["value"] != a+a {
				t.Errorf("stored %v", got)
			}
		}
	})
}
