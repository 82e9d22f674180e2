package access_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
	"armature/core/identity"
)

// Row rules, with the null rules of the reference.
func TestConditions(t *testing.T) {
	s := world(t, `[["name","=","nothing"]]`)
	tests := []struct{ condition, want string }{
		{`[["n","=",1]]`, "one"},
		{`[["n","!=",1]]`, "two three four"},
		{`[["n","<",2]]`, "one four"},
		{`[["n","<=",2],["n",">",0]]`, "one two"},
		{`[["n",">=",2]]`, "two three"},
		{`[["n","in",[1,3]]]`, "one three"},
		{`[["n","not in",[1,3]]]`, "two four"},
		{`[["n","between",[2,3]]]`, "two three"},
		{`[["n","like","1%"]]`, "one"},
		{`[["t","=",""]]`, "three"},
		{`[["t","is","set"]]`, "one two four"},
		{`[["t","is","not set"]]`, "three"},
		{`[["t","like","a\\%b"]]`, "one"},
		{`[["t","like","a_b"]]`, "one two"},
		{`[["t","like","%B"]]`, "one two"},
		{`[["t","not like","a%"]]`, "three four"},
		{`[["t","not like","%"]]`, ""},
		{`[["t","in",["AxB",""]]]`, "two three"},
		{`[["t",">","a"]]`, "one four"},
		{`[["f",">",1.5]]`, "two"},
		{`[["f","<=",0]]`, "three four"},
		{`[["f","in",[1.5,2]]]`, "one"},
		{`[["d","<","$today"]]`, "two three"},
		{`[["d","=","$today"]]`, "one"},
		{`[["d","between",["2026-02-01","2026-03-14"]]]`, "one two"},
		{`[["d","=",""]]`, "three"},
		{`[["d","!=",""]]`, "one two four"},
		{`[["d","<",""]]`, ""},
		{`[["d",">=",""]]`, "one two three four"},
		{`[["d","in",["2026-02-01",""]]]`, "two three"},
		{`[["d","not in",["2026-02-01",""]]]`, "one four"},
		{`[["d","timespan","this month"]]`, "one"},
		{`[["d","previous","3 months"]]`, ""},
		{`[["at","<","$now"]]`, "one two three"},
		{`[["at",">","2026-03-14"]]`, "four"},
		{`[["at","<=","2026-03-14"]]`, "one two three"},
		{`[["at","between",["2026-03-14","2026-03-14"]]]`, "one"},
		{`[["at","is","set"]]`, "one four"},
		{`[["done","=",1]]`, "one"},
		{`[["done","!=",1]]`, "two three four"},
		{`[["t","=","$user"]]`, "four"},
		{`[["t","in",["$user","$$user"]]]`, "four"},
		{`[["t","in","$roles"]]`, ""},
		{`[["owner","=","$user"]]`, "two three"},
		{`[["firm.login","=","$user"]]`, "two"},
		{`[["firm.area.n",">",3]]`, "two"},
		{`[["firm.area.n","=",0]]`, "three four"},
		{`[["firm.login","!=","$user"]]`, "one three four"},
		{`[["firm.login","is","not set"]]`, "three four"},
		{`[["parts.q",">",4]]`, "one"},
		{`[["parts.firm.login","=","$user"]]`, "two"},
		{`[["parts.q","=",0]]`, "three four"},
		{`[["parts","has",[["q",">",1]]]]`, "one two"},
		{`[["parts","has",[["q",">",1],["firm","is","set"]]]]`, "two"},
		{`[["parts","has no",[["q",">",4]]]]`, "two three four"},
		{`[["parts","has",[["firm.login","=","$user"]]]]`, "two"},
		{`[[["n","=",1],"or",["t","=","$user"]]]`, "one four"},
		{`[[["n",">",0],"and",[["n","=",1],"or",["n","=",3]]]]`, "one three"},
	}
	for _, test := range tests {
		t.Run(test.condition, func(t *testing.T) {
			if err := ruled(t, s, test.condition); err != nil {
				t.Fatal(err)
			}
			expectForms(t, s, documenttest.User(bob, "Ruled"), "Job", access.Read, test.want)
			expectForms(t, s, documenttest.User(bob, "Ruled"), "Job", access.Write, test.want)
		})
	}
}

// ruled gives the role Ruled another condition.
func ruled(t testing.TB, s *documenttest.Site, condition string) error {
	return s.Do(identity.Root(), func(docs document.Acting) error {
		doc, err := docs.Get(t.Context(), "DocType", "Job")
		if err != nil {
			return err
		}
		rows := []any{}
		for _, row := range doc.Rows("permissions") {
			one := map[string]any{"name": row.Name()}
			if row.Text("role") == "Ruled" {
				one["condition"] = condition
			}
			rows = append(rows, one)
		}
		_, err = docs.Update(t.Context(), "DocType", "Job", map[string]any{"permissions": rows})
		return err
	})
}

// What is no condition is refused when the DocType is saved.
func TestConditionsRefused(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	tests := []struct{ condition, says string }{
		{`[["none","=",1]]`, "no field none"},
		{`[["pass","=","x"]]`, "no field pass"},
		{`[["n","=","many"]]`, "n"},
		{`[["n.x","=",1]]`, "no link or table n"},
		{`[["firm.none","=",1]]`, "no field none"},
		{`[["n","has",[["q","=",1]]]]`, "no link or table n"},
		{`[["firm","has",[["login","=",1]]]]`, "no table"},
		{`[["parts","has",[["none","=",1]]]]`, "no field none"},
		{`[["t","=","$me"]]`, "$me is none of"},
		{`[["t","=","$roles"]]`, "only in and not in"},
		{`[["t","in",["$me"]]]`, "$me is none of"},
		{`[["n","is","full"]]`, "is takes"},
		{`[["n","between",[1]]]`, "between takes"},
		{`[["t","timespan","today"]]`, "timespan"},
		{`[["d","timespan","some day"]]`, "unknown timespan"},
		{`[["f","like","1"]]`, "like takes"},
		{`[["area","descendants of","Earth"]]`, "descendants of"},
		{`[["n","<",null]]`, "null compares only"},
		{`{`, ""},
	}
	for _, test := range tests {
		if err := ruled(t, s, test.condition); fault.KindOf(err) != fault.Validation || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want a ValidationError that says %q", test.condition, err, test.says)
		}
	}
	expectForms(t, s, documenttest.User(bob, "Ruled"), "Job", access.Read, "one")
}

// A change of one DocType must not break a rule of another that looks into it, and
// one that is broken already keeps nobody from working.
func TestBrokenRules(t *testing.T) {
	s := world(t, `[["firm.login","=","$user"]]`)
	sc := s.Documents.Schema()
	without := doctype.NewDocType(doctype.DocType{Name: "Firm", Table: "d_firm"}, nil)
	c := identity.Root()
	if err := access.CheckConditions(sc, without, c, s.Now); fault.KindOf(err) != fault.Validation || !strings.Contains(err.Error(), "role Ruled") {
		t.Errorf("a field that a rule asks for is taken away: %v", err)
	}
	var typed *fault.Error
	if err := access.CheckDropped(sc, "Firm", c, s.Now); !errors.As(err, &typed) || typed.Type != "LinkExistsError" {
		t.Errorf("a DocType that a rule looks into is deleted: %v", err)
	}
	if err := access.CheckDropped(sc, "Part", c, s.Now); err != nil {
		t.Errorf("one that none looks into: %v", err)
	}
	broken := func(sc *doctype.Schema) (all []string) {
		access.Broken(sc, s.Now, func(dt *doctype.DocType, r *doctype.Rule, err error) { all = append(all, dt.Name+" "+r.Role) })
		return all
	}
	var types []*doctype.DocType
	for dt := range sc.All {
		if dt.Name != "Firm" {
			types = append(types, dt)
		}
	}
	after := doctype.NewSchema(sc.Version+1, append(types, without))
	if got := broken(sc); got != nil {
		t.Errorf("broken: %v", got)
	}
	if got := broken(after); !slices.Equal(got, []string{"Job Ruled"}) {
		t.Errorf("broken: %v", got)
	}
	if got := broken(nil); got != nil {
		t.Errorf("broken without a schema: %v", got)
	}
	if err := access.CheckConditions(after, without, c, s.Now); err != nil {
		t.Errorf("what was broken before keeps the DocType from being saved: %v", err)
	}
	ask(t, s, documenttest.User(bob, "Ruled"), func(r *access.Rights, tx document.Tx) error {
		r.Schema = after
		dt := after.DocType("Job")
		doc, err := tx.Get(t.Context(), sc, dt, "two", false)
		if err != nil {
			return err
		}
		if err := r.Demand(t.Context(), doc, access.Read); fault.KindOf(err) != fault.Permission {
			t.Errorf("a broken rule lets pass: %v", err)
		}
		x, err := r.Explain(t.Context(), dt, "two", access.Read, func() (*doctype.Document, error) { return doc, nil })
		if err == nil && !strings.Contains(strings.Join(x.Because, "\n"), "the rule of role Ruled gives nothing") {
			t.Errorf("%v", x.Because)
		}
		return err
	})
}
