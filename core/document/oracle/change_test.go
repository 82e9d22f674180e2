package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"armature/core/sites/sitetest"
)

// change has a caller create, change or delete a document. The oracle says
// whether that is allowed, before the change and after it, and the world
// follows what was done.
func (d *drawer) change(t *testing.T, clients []*sitetest.Client, n int) {
	k := d.w.types[d.IntN(len(d.w.types))]
	if k.child {
		return
	}
	i := d.IntN(len(clients))
	o, c := &oracle{w: d.w, p: d.w.callers[i]}, clients[i].On(t)
	var reply *sitetest.Reply
	var what string
	var want bool
	all := d.w.records[k.name]
	r := all[d.IntN(len(all))]
	switch d.IntN(5) {
	case 0:
		r = &record{name: fmt.Sprintf("new%d", n), owner: o.p.name}
		sent := d.values(k, true)
		want, what = o.creates(k, r, sent), fmt.Sprint("creates ", sent)
		sent["name"] = r.name
		reply = c.Post("/api/resource/"+k.name, sent)
	case 1:
		if slices.ContainsFunc(d.w.shares, func(s share) bool { return s.kind == k.name && s.name == r.name }) {
			return // who has any share is remembered
		}
		want, what = o.sees(k, r, "delete"), "deletes"
		if reply = c.Delete(address(k, r)); reply.Status == 417 && want {
			return // something links to it
		}
		if want {
			d.w.records[k.name] = slices.DeleteFunc(slices.Clone(all), func(other *record) bool { return other == r })
		}
	default:
		sent := d.values(k, false)
		if up := all[d.IntN(len(all))]; k.tree && up != r && !slices.Contains(o.above(up, func(*record) bool { return true }), r.name) {
			sent["parent_area"] = up.name
		}
		want, what = o.changes(k, r, sent), fmt.Sprint("puts ", sent)
		reply = c.Put(address(k, r), sent)
	}
	if got := reply.Status/100 == 2; got != want || !got && reply.Status != 403 {
		t.Fatalf("%s %s in %s %s: %d %s, want %v\n%s", o.p.name, what, k.name, r.name, reply.Status, reply.Text, want, d.w)
	}
}

// values draws what a client sends. All links of a new document are said, since
// User Permissions fill those that are not.
func (d *drawer) values(k *kind, fresh bool) map[string]any {
	sent := map[string]any{}
	for _, f := range k.fields {
		if f.typ == "Table" || f.name == "parent_area" && !fresh || !d.one(3) && !(fresh && f.typ == "Link") {
			continue
		}
		if sent[f.name] = d.operand(f); f.typ == "Link" {
			to := d.w.records[f.to]
			sent[f.name] = to[d.IntN(len(to))].name
			if !fresh && d.one(5) {
				sent[f.name] = nil
			}
		} else if sent[f.name] == "" {
			sent[f.name] = nil
		}
	}
	return sent
}

func (o *oracle) writable(k *kind) []int {
	all := []int{0}
	for _, r := range k.rules {
		if r.right == "write" && o.has(r.role) {
			all = append(all, r.level)
		}
	}
	return all
}

// assign puts what was sent into a document, as far as the caller may, and what
// is fetched.
func (o *oracle) assign(k *kind, r *record, sent, before map[string]any) {
	for name, v := range sent {
		if slices.Contains(o.writable(k), k.field(name).level) {
			r.values[name] = v
		}
	}
	for _, f := range k.fields {
		if f.fetch == "" {
			continue
		}
		link, from := k.field("item"), f.fetch[len("item."):]
		to := o.w.kind(link.to)
		name, _ := r.values["item"].(string)
		item := o.w.record(link.to, name)
		switch {
		case name == "":
			r.values[f.name] = nil
		case o.sees(to, item, "read") && slices.Contains(o.levels(to), to.field(from).level):
			r.values[f.name] = item.value(from)
		case before != nil && before["item"] == r.values["item"]:
			r.values[f.name] = before[f.name]
		default:
			r.values[f.name] = nil
		}
	}
}

// changes changes a document if the caller may.
func (o *oracle) changes(k *kind, r *record, sent map[string]any) bool {
	if !o.sees(k, r, "write") {
		return false
	}
	before := maps.Clone(r.values)
	o.assign(k, r, sent, before)
	if o.sees(k, r, "write") {
		o.w.changed(r)
		return true
	}
	r.values = before
	return false
}

// creates adds a document if the caller may.
func (o *oracle) creates(k *kind, r *record, sent map[string]any) bool {
	r.values, r.rows = map[string]any{}, map[string][]*record{}
	for _, f := range k.fields {
		switch f.typ {
		case "Int":
			r.values[f.name] = int64(0)
		case "Float":
			r.values[f.name] = 0.0
		case "Link":
			if only := o.only(k, f); only != "" {
				r.values[f.name] = only
				continue
			}
			fallthrough
		case "Data", "Date":
			r.values[f.name] = nil
		}
	}
	for name, v := range sent {
		if v == nil {
			delete(sent, name) // leaves what is there
		}
	}
	all := o.w.records[k.name]
	o.assign(k, r, sent, nil)
	o.w.records[k.name] = append(slices.Clip(all), r)
	if o.sees(k, r, "create") {
		o.w.changed(r)
		return true
	}
	o.w.records[k.name] = all
	return false
}

// only is the one document that User Permissions allow in a link.
func (o *oracle) only(k *kind, f *field) string {
	var all []string
	for _, l := range o.w.limits {
		if l.user == o.p.name && l.allow == f.to && (l.only == "" || l.only == k.name) && !f.ignore {
			all = append(all, l.value)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return ""
}
