package oracle_test

import (
	"fmt"
	"net/url"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/sites/sitetest"
)

type object = map[string]any

// serve puts a world into a site and returns a client for each caller.
// Documents are stored as they are: what their links lead to is given, and who
// owns them, too.
func (w *world) serve(t testing.TB, s *sitetest.Server) []*sitetest.Client {
	t.Helper()
	for _, role := range []string{"R1", "R2"} {
		s.Admin.Post("/api/resource/Role", object{"role_name": role}).OK(t)
	}
	for _, k := range w.types {
		s.Admin.Post("/api/resource/DocType", k.definition()).OK(t)
	}
	var clients []*sitetest.Client
	for _, p := range w.callers {
		s.User(t, p.name, p.roles[:len(p.roles)-2]...) // all but All and Guest
	}
	err := s.Tenant.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		in := &installer{t, s.Tenant.Documents.Schema(), tx}
		return in.world(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range w.callers {
		clients = append(clients, s.As(t, p.name))
	}
	return clients
}

func (k *kind) definition() object {
	fields, rules := []object{}, []object{}
	for _, f := range k.fields {
		if k.tree && f.name == "parent_area" {
			continue // a tree has it by itself
		}
		fields = append(fields, object{"fieldname": f.name, "fieldtype": f.typ, "options": f.to, "permlevel": f.level, "ignore_user_permissions": number(f.ignore), "fetch_from": f.fetch})
	}
	for _, r := range k.rules {
		one := object{"role": r.role, "permlevel": r.level, "read": 0, "if_owner": number(r.ifOwner), "condition": r.when.text()}
		one[r.right] = 1
		rules = append(rules, one)
	}
	return object{"name": k.name, "module": "Custom", "custom": 1, "autoname": "Prompt", "fields": fields, "permissions": rules,
		"istable": number(k.child), "is_tree": number(k.tree)}
}

func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// installer stores what the world holds.
type installer struct {
	t      testing.TB
	schema *doctype.Schema
	tx     document.Tx
}

func (in *installer) world(w *world) error {
	for _, k := range w.types {
		for _, r := range w.records[k.name] {
			if err := in.tx.Insert(in.t.Context(), in.document(w, k, r)); err != nil {
				return err
			}
		}
	}
	for i, s := range w.shares {
		if err := in.put("DocShare", i, object{"user": orNull(s.user), "everyone": number(s.everyone), "share_doctype": s.kind, "share_name": s.name, "read": number(s.read), "write": number(s.write)}); err != nil {
			return err
		}
	}
	for i, l := range w.limits {
		if err := in.put("User Permission", i, object{"user": l.user, "allow": l.allow, "for_value": l.value, "apply_to_all_doctypes": number(l.only == ""),
			"applicable_for": orNull(l.only), "hide_descendants": number(l.hide)}); err != nil {
			return err
		}
	}
	return nil
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (in *installer) fresh(dt *doctype.DocType, name, owner string) *doctype.Document {
	doc := doctype.NewDocument(dt)
	doc.Put("name", name)
	doc.Put("owner", owner)
	doc.Put("modified_by", owner)
	doc.Put("creation", "2024-01-01 00:00:00.000000")
	doc.Put("modified", "2024-01-01 00:00:00.000000")
	return doc
}

func (in *installer) put(kind string, n int, values object) error {
	doc := in.fresh(in.schema.DocType(kind), fmt.Sprintf("drawn %d", n), "Administrator")
	for name, v := range values {
		doc.Put(name, v)
	}
	return in.tx.Insert(in.t.Context(), doc)
}

func (in *installer) document(w *world, k *kind, r *record) *doctype.Document {
	doc := in.fresh(in.schema.DocType(k.name), r.name, r.owner)
	doc.Put("modified", fmt.Sprintf("2024-01-01 00:00:00.%06d", r.at))
	for name, v := range r.values {
		doc.Put(name, v)
	}
	for _, f := range k.fields {
		var rows []*doctype.Document
		for i, row := range r.rows[f.name] {
			d := in.document(w, w.kind(f.to), row)
			d.Put("parent", r.name)
			d.Put("parenttype", k.name)
			d.Put("parentfield", f.name)
			d.Put("idx", int64(i+1))
			rows = append(rows, d)
		}
		if len(rows) > 0 {
			doc.PutRows(f.name, rows)
		}
	}
	return doc
}

func address(k *kind, r *record) string {
	return "/api/resource/" + k.name + "/" + url.PathEscape(r.name)
}
