package doctypes_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"armature/core/doctype"
	builtin "armature/core/doctypes"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/store"
	"armature/plugins/doctypes"
	"armature/plugins/manifest"
)

type m = map[string]any

// brings is a manifest of acme.shop with DocTypes.
func brings(t testing.TB, all ...any) *manifest.Manifest {
	t.Helper()
	mf := &manifest.Manifest{Name: "acme.shop"}
	for _, v := range all {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		mf.DocTypes = append(mf.DocTypes, text)
	}
	return mf
}

// site is a site on a database of its own.
type site struct {
	t         *testing.T
	store     document.Store
	documents *document.Service
}

func newSite(t *testing.T) *site {
	t.Helper()
	st, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "site.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	schema, err := builtin.Install(t.Context(), st, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return &site{t, st, document.NewService(document.ServiceConfig{Store: st, Catalog: doctype.NewCatalog(schema)})}
}

func (s *site) parse(all ...any) []*doctypes.DocType {
	s.t.Helper()
	parsed, err := doctypes.Parse(brings(s.t, all...))
	if err != nil {
		s.t.Fatal(err)
	}
	return parsed
}

func (s *site) plan(all ...any) (steps []doctypes.Step, err error) {
	s.t.Helper()
	parsed := s.parse(all...)
	err = s.store.Read(s.t.Context(), func(tx document.Tx) error {
		steps, err = doctypes.Plan(s.t.Context(), tx, s.documents, parsed)
		return err
	})
	return steps, err
}

// apply installs DocTypes, after which they are what was wanted.
func (s *site) apply(all ...any) []doctypes.Step {
	s.t.Helper()
	planned, err := s.plan(all...)
	if err != nil {
		s.t.Fatal(err)
	}
	done, err := doctypes.Apply(s.t.Context(), s.store, s.documents, identity.Root(), s.parse(all...))
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(done, planned) {
		s.t.Errorf("did %+v, planned %+v", done, planned)
	}
	after, err := s.plan(all...)
	for _, step := range after {
		if step.Action != doctypes.Keep || err != nil {
			s.t.Errorf("after it was applied: %+v, %v", step, err)
		}
	}
	return done
}

// order and line are DocTypes that a shop brings.
func order(fields ...any) m {
	return m{"name": "Shop Order", "fields": append([]any{m{"fieldname": "title", "fieldtype": "Data", "reqd": 1}}, fields...),
		"permissions": []any{m{"role": "Shop Keeper", "write": 1}, m{"role": "System Manager"}}}
}

var line = m{"name": "Shop Line", "istable": 1, "fields": []any{m{"fieldname": "item", "fieldtype": "Data"}}}

func TestParse(t *testing.T) {
	for name, tt := range map[string]struct {
		all  []any
		want string
	}{
		"no object":         {[]any{"text"}, "no JSON object"},
		"twice":             {[]any{line, line}, "shipped twice"},
		"a field that is":   {[]any{m{"name": "A", "fields": []any{m{"fieldname": "x", "fieldtype": "Nothing"}}}}, "Nothing"},
		"fields of text":    {[]any{m{"name": "A", "fields": []any{"x"}}}, ""},
		"a number for text": {[]any{m{"name": 7}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := doctypes.Parse(brings(t, tt.all...))
			if fault.KindOf(err) != fault.Validation || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
	all, err := doctypes.Parse(brings(t, order(), line))
	if err != nil || len(all) != 2 || all[0].Name != "Shop Order" {
		t.Errorf("parsed %v, %v", all, err)
	}
}

// TestApply: what is missing is made, children first and circles closed; what differs
// is changed; what is left out is hidden.
func TestApply(t *testing.T) {
	s := newSite(t)
	lines := m{"fieldname": "lines", "fieldtype": "Table", "options": "Shop Line"}
	customer := m{"fieldname": "customer", "fieldtype": "Link", "options": "Shop Customer"}
	whose := m{"name": "Shop Customer", "fields": []any{m{"fieldname": "last", "fieldtype": "Link", "options": "Shop Order"}}}
	done := s.apply(order(lines, customer), whose, line)
	if len(done) != 3 || done[0].Action != doctypes.Create || !reflect.DeepEqual(done[0].Added, []string{"title", "lines", "customer"}) || !reflect.DeepEqual(done[0].Roles, []string{"Shop Keeper"}) {
		t.Errorf("made %+v", done)
	}
	dt := s.documents.Schema().DocType("Shop Order")
	if dt == nil || !dt.Custom || dt.Module != "acme.shop" || dt.Field("customer") == nil || dt.Field("lines") == nil {
		t.Fatalf("the DocType is %+v", dt)
	}
	for _, step := range s.apply(order(lines, customer), whose, line) {
		if step.Action != doctypes.Keep || step.Roles != nil {
			t.Errorf("again: %+v", step)
		}
	}

	changed := order(lines, m{"fieldname": "note", "fieldtype": "Small Text"})
	changed["fields"].([]any)[0].(m)["reqd"] = 0
	changed["permissions"] = []any{m{"role": "System Manager"}}
	step := s.apply(changed, whose, line)[0]
	want := doctypes.Step{DocType: "Shop Order", Action: doctypes.Alter, Added: []string{"note"}, Removed: []string{"customer"},
		Changed: []doctypes.Change{{What: "permissions", From: 2, To: 1}, {What: "title.reqd", From: int64(1), To: int64(0)}}}
	if !reflect.DeepEqual(step, want) {
		t.Errorf("changed %+v, want %+v", step, want)
	}
}

// TestNotTheirs: a plugin does not redefine what is the platform's or another plugin's.
func TestNotTheirs(t *testing.T) {
	s := newSite(t)
	if _, err := s.plan(m{"name": "ToDo", "fields": []any{}}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the platform's: %v", err)
	}
	s.apply(line)
	other := brings(t, line)
	other.Name = "acme.other"
	parsed, err := doctypes.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doctypes.Apply(t.Context(), s.store, s.documents, identity.Root(), parsed); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another's: %v", err)
	}
}

// TestWhoMay: who may not make DocTypes does not by a plugin either.
func TestWhoMay(t *testing.T) {
	s := newSite(t)
	_, err := doctypes.Apply(t.Context(), s.store, s.documents, identity.Anonymous(), s.parse(line))
	if fault.KindOf(err) != fault.Permission && fault.KindOf(err) != fault.Authentication || s.documents.Schema().DocType("Shop Line") != nil {
		t.Errorf("nobody made a DocType: %v", err)
	}
}

// What a manifest brings is read before anything of a site is asked.
func ExampleParse() {
	all, err := doctypes.Parse(&manifest.Manifest{Name: "acme.shop", DocTypes: []json.RawMessage{
		json.RawMessage(`{"name": "Shop Line", "istable": 1, "fields": [{"fieldname": "item", "fieldtype": "Data"}]}`),
	}})
	fmt.Println(all[0].Name, err)
	_, err = doctypes.Parse(&manifest.Manifest{Name: "acme.shop", DocTypes: []json.RawMessage{json.RawMessage(`[]`)}})
	fmt.Println(err != nil)
	// Output:
	// Shop Line <nil>
	// true
}
