package access

import (
	"fmt"
	"slices"
	"strings"

	"armature/core/doctype"
)

// Fingerprint is a text that is the same for two lists which show the same rows with
// the same columns, whoever asks, as long as the DocTypes stay as they are. reads are
// the DocTypes beside the listed one of which documents decide what it shows, sorted.
func (l *List) Fingerprint() (text string, reads []string) {
	f := &fingerprint{}
	sel := l.Select
	f.add("%q", sel.DocType.Name)
	for _, j := range sel.Joins {
		f.add("J%q%q", j.Via.Name, j.Target.Name)
		f.read(j.Target)
		f.where(j.On)
	}
	for _, c := range sel.Columns {
		f.add("C%q%q", string(c.Func), c.Key)
		f.operand(c.Operand)
	}
	f.where(sel.Where)
	for _, n := range l.Nested {
		f.add("N%q%d", n.Table.Name, n.At)
		f.read(n.child)
		for _, field := range n.Fields {
			f.add("%q", field.Name)
		}
	}
	f.reads = slices.DeleteFunc(f.reads, func(name string) bool { return name == sel.DocType.Name && !f.self })
	slices.Sort(f.reads)
	return f.text.String(), slices.Compact(f.reads)
}

type fingerprint struct {
	text  strings.Builder
	reads []string
	self  bool // other documents of the listed DocType decide as well
}

func (f *fingerprint) add(format string, args ...any) { fmt.Fprintf(&f.text, format, args...) }

func (f *fingerprint) read(dt *doctype.DocType) {
	f.self = true // a join or a condition may lead back to the listed DocType
	f.reads = append(f.reads, dt.Name)
}

func (f *fingerprint) operand(o doctype.Operand) {
	name := ""
	if o.Field != nil {
		name = o.Field.Name
	}
	f.add("O%d%q", o.Join, name)
}

func (f *fingerprint) where(w doctype.Where) {
	switch w := w.(type) {
	case nil:
		f.add("-")
	case doctype.AllOf:
		f.several('&', w)
	case doctype.AnyOf:
		f.several('|', w)
	case doctype.Compare:
		f.add("=%q", string(w.Op))
		f.operand(w.Operand)
		f.add("%#v", w.Value)
	case doctype.Some:
		f.add("S%v%q%q", w.Not, w.Target.Name, w.Key.Name)
		f.operand(w.Of)
		if w.Via != nil {
			f.add("V%q", w.Via.Name)
		}
		if w.Below != nil {
			f.add("B%q", w.Below.Name)
		}
		f.read(w.Target)
		f.where(w.Where)
	default:
		f.add("?%#v", w)
	}
}

func (f *fingerprint) several(kind byte, parts []doctype.Where) {
	f.add("%c%d(", kind, len(parts))
	for _, p := range parts {
		f.where(p)
	}
	f.add(")")
}
