package installed_test

import (
	"encoding/base64"
	"reflect"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
)

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// shop are DocTypes that point at each other.
func shop(fields ...any) m {
	return m{"doctypes": []any{
		m{"name": "Shop Order", "autoname": "hash", "title_field": "title", "fields": append([]any{
			m{"fieldname": "title", "fieldtype": "Data", "reqd": 1},
			m{"fieldname": "customer", "fieldtype": "Link", "options": "Shop Customer"},
			m{"fieldname": "lines", "fieldtype": "Table", "options": "Shop Line"},
		}, fields...), "permissions": []any{m{"role": "System Manager", "read": 1, "write": 1, "create": 1}}},
		m{"name": "Shop Customer", "fields": []any{
			m{"fieldname": "last_order", "fieldtype": "Link", "options": "Shop Order"},
		}},
		m{"name": "Shop Line", "istable": 1, "fields": []any{m{"fieldname": "item", "fieldtype": "Data"}}},
	}}
}

func actions(done m) map[string]string {
	got := map[string]string{}
	for _, s := range done["doctypes"].([]any) {
		got[s.(m)["doctype"].(string)] = s.(m)["action"].(string)
	}
	return got
}

func all(action string) map[string]string {
	return map[string]string{"Shop Order": action, "Shop Customer": action, "Shop Line": action}
}

func (p *process) insert(doctype string, values m) (doc *doctype.Document, err error) {
	err = p.store.Write(p.t.Context(), document.OwnTx, func(tx document.Tx) error {
		doc, err = p.documents.As(identity.Root(), tx).Insert(p.t.Context(), doctype, values)
		return err
	})
	return doc, err
}

func TestDocTypes(t *testing.T) {
	p := newProcess(t)
	one := plugin(t, "1", shop())
	if got := actions(p.manage("plan", m{"wasm": encode(one)})); !reflect.DeepEqual(got, all("create")) {
		t.Errorf("plan %v", got)
	}
	if p.documents.Schema().DocType("Shop Order") != nil {
		t.Fatal("a plan has made a DocType")
	}
	p.install(one)
	for _, name := range []string{"Shop Order", "Shop Customer", "Shop Line"} {
		if dt := p.documents.Schema().DocType(name); dt == nil || dt.Module != "acme.a" || !dt.Custom {
			t.Fatalf("%s: %+v", name, dt)
		}
	}
	if f := p.documents.Schema().DocType("Shop Customer").Field("last_order"); f == nil {
		t.Error("a field that closes a circle is missing")
	}
	doc, err := p.insert("Shop Order", m{"title": "first", "lines": []any{m{"item": "tea"}}})
	if err != nil {
		t.Fatal(err)
	}

	// The same again changes nothing, and another version what differs.
	if got := actions(p.install(plugin(t, "2", shop()))); !reflect.DeepEqual(got, all("keep")) {
		t.Errorf("again: %v", got)
	}
	before := p.documents.Schema().Version
	p.install(plugin(t, "2", shop()))
	if after := p.documents.Schema().Version; after != before {
		t.Error("installing the same has changed the schema")
	}
	three := shop(m{"fieldname": "note", "fieldtype": "Small Text"})
	order := three["doctypes"].([]any)[0].(m)
	order["fields"].([]any)[0].(m)["reqd"] = 0
	order["fields"] = append(order["fields"].([]any)[:1:1], order["fields"].([]any)[2:]...)
	plan := p.manage("plan", m{"wasm": encode(plugin(t, "3", three))})
	step := plan["doctypes"].([]any)[0].(m)
	want := m{"doctype": "Shop Order", "action": "change", "added": []any{"note"}, "removed": []any{"customer"},
		"changed": []any{m{"what": "title.reqd", "from": 1.0, "to": 0.0}}}
	if !reflect.DeepEqual(step, want) {
		t.Errorf("plan %v, want %v", step, want)
	}
	p.install(plugin(t, "3", three))
	dt := p.documents.Schema().DocType("Shop Order")
	if dt.Field("note") == nil || dt.Field("customer") != nil || dt.Field("title").Required {
		t.Errorf("fields %+v", dt.Fields)
	}

	// Data stays when the plugin goes, and is there when it comes back.
	p.manage("uninstall", m{"plugin": "acme.a"})
	p.install(plugin(t, "3", three))
	err = p.store.Read(t.Context(), func(tx document.Tx) error {
		got, err := p.documents.As(identity.Root(), tx).Get(t.Context(), "Shop Order", doc.Name())
		if err == nil && (got.Text("title") != "first" || len(got.Rows("lines")) != 1) {
			t.Errorf("document %v", got.Values())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRolesOfDocTypes: a role that permissions name is made, once, and one that is
// there stays as it is.
func TestRolesOfDocTypes(t *testing.T) {
	p := newProcess(t)
	rule := func(role string) m { return m{"role": role, "read": 1} }
	with := func(rules ...any) m {
		return m{"doctypes": []any{m{"name": "Shop", "fields": []any{m{"fieldname": "title", "fieldtype": "Data"}}, "permissions": rules}}}
	}
	if _, err := p.insert("Role", m{"role_name": "Clerk", "desk_access": true}); err != nil {
		t.Fatal(err)
	}
	one := plugin(t, "1", with(rule("System Manager"), rule("Clerk"), rule("Shop Keeper")))
	made := func(done m) any { return done["doctypes"].([]any)[0].(m)["roles"] }
	if got := made(p.manage("plan", m{"wasm": encode(one)})); !reflect.DeepEqual(got, []any{"Shop Keeper"}) {
		t.Errorf("plan: %v", got)
	}
	desk := func(role string) (access any) {
		err := p.store.Read(t.Context(), func(tx document.Tx) error {
			doc, err := p.documents.As(identity.Root(), tx).Get(t.Context(), "Role", role)
			if err == nil {
				access = doc.Get("desk_access")
			}
			return err
		})
		if err != nil {
			return err.Error()
		}
		return access
	}
	if got := desk("Shop Keeper"); got == int64(0) {
		t.Error("a plan has made a role")
	}
	p.install(one)
	if desk("Shop Keeper") != int64(0) || desk("Clerk") != int64(1) {
		t.Errorf("after the installation: %v, %v", desk("Shop Keeper"), desk("Clerk"))
	}
	if got := made(p.install(plugin(t, "2", with(rule("Shop Keeper"), rule("Clerk"))))); got != nil {
		t.Errorf("again: %v", got)
	}
}

// TestDocTypesOfFolder: a plugin in a folder brings its DocTypes too.
func TestDocTypesOfFolder(t *testing.T) {
	p := newProcess(t)
	if err := p.put(plugin(t, "1", shop())); err != nil {
		t.Fatal(err)
	}
	if _, err := p.insert("Shop Order", m{"title": "first"}); err != nil {
		t.Error(err)
	}
	if err := p.put(plugin(t, "2", m{"doctypes": []any{m{"name": "ToDo", "fields": []any{}}}})); err != nil {
		t.Fatal(err)
	}
	if text, _ := p.record()["error"].(string); text == "" {
		t.Errorf("record %v", p.record())
	}
}
