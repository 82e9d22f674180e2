package access_test

import (
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
	"armature/core/identity"
)

// What a list shows, whichever way a path is written; an error is told by its kind
// and some words.
func TestLists(t *testing.T) {
	s := world(t, `[["firm.login","=","$user"]]`)
	reader, level := documenttest.User(ann, "Reader"), documenttest.User(ann, "Level")
	ruled, finder := documenttest.User(bob, "Ruled"), documenttest.User(bob, "Finder")
	limited := restricted(documenttest.User(ann, "Reader"), identity.Restriction{Allow: "Firm", Value: "Acme"})
	half := documenttest.User(ann, "Half", "Level")
	tests := []struct {
		name, typeName string
		caller         *identity.Caller
		args, want     string
	}{
		{"names by default", "Job", reader, `{"order_by": "name asc"}`, `[{"name":"four"},{"name":"one"},{"name":"three"},{"name":"two"}]`},
		{"those the rule gives", "Job", ruled, `{"fields": ["name", "n"]}`, `[{"name":"two","n":2}]`},
		{"as arrays", "Job", ruled, `{"fields": ["name", "n"], "as_dict": 0}`, `[["two",2]]`},
		{"the one changed last comes first", "Job", reader, `{"limit": 2}`, `[{"name":"four"},{"name":"three"}]`},
		{"a page", "Job", reader, `{"order_by": "name", "limit_start": 1, "limit": 2}`, `[{"name":"one"},{"name":"three"}]`},
		{"a hidden level is left out", "Job", reader, `{"fields": ["name", "secret"], "filters": [["name","=","one"]]}`, `[{"name":"one"}]`},
		{"nothing else is asked for", "Job", reader, `{"fields": ["secret"], "filters": [["name","=","one"]]}`, `[{"name":"one"}]`},
		{"a level that is seen", "Job", level, `{"fields": ["secret"], "filters": [["name","=","one"]]}`, `[{"secret":"x"}]`},
		{"a hidden level in a filter", "Job", reader, `{"filters": [["secret","=","x"]]}`, "403 may not query by secret"},
		{"and in the order", "Job", reader, `{"order_by": "secret"}`, "403 may not query by secret"},
		{"and in groups", "Job", reader, `{"fields": ["count(*) as c"], "group_by": "secret"}`, "403 may not query by secret"},
		{"a sum of it is left out", "Job", reader, `{"fields": ["count(*) as c", "max(secret) as s"]}`, `[{"c":4}]`},
		{"a password", "Job", level, `{"fields": ["pass"]}`, "417 not permitted"},
		{"no field", "Job", level, `{"filters": [["none","=",1]]}`, "417 not permitted"},
		{"over a link", "Job", reader, `{"fields": ["name", "firm.login as l"], "filters": [["firm.login","is","set"]], "order_by": "name"}`,
			`[{"name":"one","l":"ann@example.com"},{"name":"two","l":"bob@example.com"}]`},
		{"over a link to a hidden level", "Job", reader, `{"fields": ["name", "firm.n"], "filters": [["name","=","one"]]}`, `[{"name":"one"}]`},
		{"which filters nothing", "Job", reader, `{"filters": [["firm.n","=",1]]}`, "403 may not query by firm.n"},
		{"over a link to nobody's", "Job", level, `{"fields": ["name", "firm.login"], "filters": [["name","=","one"]]}`, `[{"name":"one"}]`},
		{"which filters nothing either", "Job", level, `{"filters": [["firm.login","=","x"]]}`, "403 read access to Firm"},
		{"what a link hides is null", "Job", half, `{"fields": ["name", "area.n as n"], "order_by": "area.n desc, name"}`,
			`[{"name":"one","n":2},{"name":"three","n":0},{"name":"four","n":null},{"name":"two","n":null}]`},
		{"in every operator", "Job", half, `{"filters": [["area.n","=",0]], "order_by": "name"}`, `[{"name":"four"},{"name":"three"},{"name":"two"}]`},
		{"over a table", "Job", reader, `{"fields": ["name", "parts.q as q"], "filters": [["parts.q",">",0]], "order_by": "parts.q"}`,
			`[{"name":"one","q":1},{"name":"two","q":2},{"name":"one","q":5}]`},
		{"by the name of its DocType", "Job", reader, `{"fields": ["name"], "filters": [["Part","q",">",4]]}`, `[{"name":"one"}]`},
		{"in backticks", "Job", reader, "{\"fields\": [\"`tabJob`.name\", \"`tabPart`.q as q\"], \"filters\": [[\"name\",\"=\",\"two\"]]}", `[{"name":"two","q":2}]`},
		{"a hidden table multiplies no rows", "Job", reader, `{"fields": ["name", "hidden.q"], "filters": [["name","=","one"]]}`, `[{"name":"one"}]`},
		{"a hidden column of a table", "Job", reader, `{"fields": ["name", "parts.cost"], "filters": [["name","=","one"]]}`, `[{"name":"one"}]`},
		{"is no filter", "Job", reader, `{"filters": [["parts.cost",">",1]]}`, "403 may not query by"},
		{"over a number", "Job", reader, `{"fields": ["n.q"]}`, "417 not permitted"},
		{"rows nested", "Job", reader, `{"fields": ["name", {"parts": ["q", "cost"]}], "filters": [["name","in",["one","four"]]], "order_by": "name"}`,
			`[{"name":"four","parts":[]},{"name":"one","parts":[{"q":1},{"q":5}]}]`},
		{"rows nested with their levels", "Job", level, `{"fields": ["name", {"parts": ["q", "cost"]}, {"hidden": ["q"]}], "filters": [["name","=","one"]]}`,
			`[{"name":"one","parts":[{"q":1,"cost":2.5},{"q":5,"cost":1.0}],"hidden":[{"q":9}]}]`},
		{"rows of a hidden table", "Job", reader, `{"fields": ["name", {"hidden": ["q"]}], "filters": [["name","=","one"]]}`, `[{"name":"one"}]`},
		{"all of the rows", "Job", reader, `{"fields": [{"parts": ["*"]}], "filters": [["name","=","four"]]}`, `[{"parts":[]}]`},
		{"rows of no table", "Job", reader, `{"fields": [{"firm": ["q"]}]}`, "417 not permitted"},
		{"rows in groups", "Job", reader, `{"fields": ["count(*) as c", {"parts": ["q"]}]}`, "417 cannot be nested"},
		{"a link expanded", "Job", restricted(documenttest.User(ann, "Reader", "Owner")), `{"fields": ["name", "firm"], "expand": ["firm"], "filters": [["name","=","three"]]}`, `"name":"Core"`},
		{"a link that is not read stays", "Job", level, `{"fields": ["name", "firm"], "expand": ["firm"], "filters": [["name","=","three"]]}`, `[{"name":"three","firm":"Core"}]`},
		{"one of those a User Permission hides", "Job", limited, `{"fields": ["name", "other"], "expand": ["other"], "order_by": "name"}`, `[{"name":"four","other":null},{"name":"one","other":"Bolt"}]`},
		{"what it says is null", "Job", limited, `{"fields": ["name", "other.login as l"], "filters": [["other.login","=",""]], "order_by": "name"}`, `[{"name":"four","l":null},{"name":"one","l":null}]`},
		{"select shows what is searched", "Job", finder, `{"fields": ["name", "t", "n"], "order_by": "name", "limit": 1}`, `[{"name":"four","t":"bob@example.com"}]`},
		{"and filters by nothing else", "Job", finder, `{"filters": [["n","=",1]]}`, "403 may not query by n"},
		{"numbers", "Job", reader, `{"fields": ["count(*) as c", "sum(n) as s", "avg(n) as a", "min(n) as l", "max(n) as h"]}`, `[{"c":4,"s":6,"a":1.5,"l":0,"h":3}]`},
		{"numbers without names", "Job", reader, `{"fields": ["count(*)", "sum(n)"]}`, `[{"COUNT(*)":4,"SUM(n)":6}]`},
		{"a sum of text", "Job", reader, `{"fields": ["sum(t)"]}`, "417 needs a number"},
		{"groups", "Job", reader, `{"fields": ["firm", "count(*) as c"], "group_by": "firm", "order_by": "c desc, firm asc", "filters": [["firm","is","set"]]}`, `[{"firm":"Acme","c":1},{"firm":"Bolt","c":1},{"firm":"Core","c":1}]`},
		{"one or the other", "Job", reader, `{"or_filters": [["n","=",1],["n","=",3]], "order_by": "name"}`, `[{"name":"one"},{"name":"three"}]`},
		{"nobody's list", "Job", documenttest.User(bob), `{}`, "403 read access to Job"},
		{"below a node", "Area", reader, `{"filters": [["name","descendants of","Europe"]]}`, `[{"name":"France"}]`},
		{"below it and the node", "Area", reader, `{"filters": [["name","descendants of (inclusive)","Europe"]], "order_by": "name"}`, `[{"name":"Europe"},{"name":"France"}]`},
		{"not below it", "Area", reader, `{"filters": [["name","not descendants of","Earth"]]}`, `[{"name":"Earth"}]`},
		{"above", "Area", reader, `{"filters": [["name","ancestors of","Japan"]], "order_by": "name"}`, `[{"name":"Asia"},{"name":"Earth"}]`},
		{"not above", "Area", reader, `{"filters": [["name","not ancestors of","Japan"]], "order_by": "name"}`, `[{"name":"Europe"},{"name":"France"},{"name":"Japan"}]`},
		{"a link to what is below", "Job", reader, `{"filters": [["area","descendants of","Asia"]]}`, `[{"name":"two"}]`},
		{"a joined link to what is below", "Job", reader, `{"filters": [["firm.area","descendants of","Asia"]]}`, `[{"name":"two"}]`},
		{"a hidden node is no node", "Job", half, `{"filters": [["area","descendants of","Asia"]]}`, `[]`},
		{"and nothing is behind it", "Area", half, `{"filters": [["name","ancestors of","Japan"]]}`, `[]`},
		{"a number is no node", "Job", reader, `{"filters": [["n","descendants of","Asia"]]}`, "417 works on the name of a tree"},
		{"a link to no tree", "Job", reader, `{"filters": [["firm","descendants of","Asia"]]}`, "417 works on the name of a tree"},
		{"a tree nobody reads", "Job", level, `{"filters": [["area","descendants of","Asia"]]}`, "403 read access to Area"},
		{"who only selects learns of no tree", "Area", documenttest.User(ann, "Namer"), `{"filters": [["name","descendants of","Earth"]]}`, `[]`},
		{"but the names", "Area", documenttest.User(ann, "Namer"), `{"filters": [["name","in",["Asia","Japan"]]], "order_by": "name"}`, `[{"name":"Asia"},{"name":"Japan"}]`},
		{"rows by their document", "Part", reader, `{"parent": "Job", "fields": ["parent", "q"], "order_by": "q"}`, `[{"parent":"one","q":1},{"parent":"two","q":2},{"parent":"one","q":5}]`},
		{"rows of those that are seen", "Part", ruled, `{"parent": "Job", "fields": ["q", "cost"]}`, `[{"q":2}]`},
		{"rows of every table", "Part", level, `{"parent": "Job", "fields": ["q", "cost"], "filters": [["q",">",4]], "order_by": "q"}`, `[{"q":5,"cost":1.0},{"q":9,"cost":0.0}]`},
		{"rows without a document", "Part", reader, `{}`, "403 read access to Part"},
		{"rows of what has none", "Part", reader, `{"parent": "Firm"}`, "403 read access to Part"},
		{"rows of nobody's", "Part", documenttest.User(bob), `{"parent": "Job"}`, "403 read access to Part"},
		{"rows for the platform", "Part", &identity.Caller{User: bob, Elevated: true}, `{"fields": ["q"], "order_by": "q", "limit": 1}`, `[{"q":1}]`},
		{"a single document", "Website Settings", identity.Root(), `{}`, "404 not found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := s.List(test.caller, test.typeName, test.args)
			if err != nil {
				got = strings.Join([]string{status(err), err.Error()}, " ")
			}
			code, says, refused := strings.Cut(test.want, " ")
			switch {
			case refused && len(code) == 3:
				if !strings.HasPrefix(got, code) || !strings.Contains(got, says) {
					t.Errorf("%s, want %s", got, test.want)
				}
			case strings.HasPrefix(test.want, "["):
				if got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
			case !strings.Contains(got, test.want):
				t.Errorf("%s, want %s in it", got, test.want)
			}
		})
	}
}

func status(err error) string {
	switch fault.KindOf(err) {
	case fault.Permission:
		return "403"
	case fault.Validation:
		return "417"
	case fault.NotFound:
		return "404"
	}
	return "500"
}

// What a link leads to is shown as it would be by itself, and nothing of it where it
// is not read at all.
func TestLinked(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	tests := []struct {
		name     string
		caller   *identity.Caller
		typeName string
		names    []any
		columns  string // of what is selected; empty: nothing is
	}{
		{"read", documenttest.User(bob, "Reader"), "Firm", []any{"Acme"}, "name login area"},
		{"not read", documenttest.User(bob, "Finder"), "Firm", []any{"Acme"}, ""},
		{"only selected", documenttest.User(bob, "Finder"), "Job", []any{"one"}, ""},
		{"rows", identity.Root(), "Part", []any{"x"}, ""},
		{"nothing named", identity.Root(), "Firm", nil, ""},
		{"no DocType", identity.Root(), "None", []any{"x"}, ""},
	}
	for _, test := range tests {
		err := s.Ask(test.caller, func(r *access.Rights, _ document.Tx) error {
			sel, err := r.Linked(t.Context(), r.Schema.DocType(test.typeName), test.names)
			if err != nil {
				return err
			}
			var got []string
			if sel != nil {
				for _, c := range sel.Columns {
					if !c.Field.Standard || c.Field.Name == "name" {
						got = append(got, c.Key)
					}
				}
			}
			if text := strings.Join(got, " "); text != test.columns {
				t.Errorf("%s: %q, want %q", test.name, text, test.columns)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
