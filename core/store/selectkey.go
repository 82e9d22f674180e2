package store

import (
	"encoding/binary"
	"sync"

	"armature/core/doctype"
	"armature/core/fault"
)

// Bounds of a list, below what either database takes, so that both refuse the
// same ones in the same words.
const (
	maxTerms   = 500
	maxOutputs = 1000
	maxJoins   = 50
	// maxKey is the longest key of a shape worth keeping.
	maxKey = 4096
)

// keyer turns a list into the key of its shape and the arguments of its
// values, in one walk.
type keyer struct {
	s    *Store
	key  []byte
	args []any

	terms int // comparisons and groups
}

var keyers = sync.Pool{New: func() any { return new(keyer) }}

func (s *Store) takeKeyer() *keyer {
	k := keyers.Get().(*keyer)
	k.s, k.key, k.terms = s, k.key[:0], 0
	k.args = make([]any, 0, 8) // drivers may keep it
	return k
}

func (k *keyer) put() {
	k.s, k.args = nil, nil
	keyers.Put(k)
}

func (k *keyer) number(n int)  { k.key = binary.AppendUvarint(k.key, uint64(n)) }
func (k *keyer) text(s string) { k.number(len(s)); k.key = append(k.key, s...) }

func (k *keyer) flag(b bool) {
	c := byte('0')
	if b {
		c = '1'
	}
	k.key = append(k.key, c)
}

func (k *keyer) field(f *doctype.Field) {
	if f == nil {
		k.number(0)
		return
	}
	k.number(f.Index + 1)
}

func (k *keyer) operand(o doctype.Operand) {
	k.number(o.Join)
	k.field(o.Field)
}

// from adds the joined tables.
func (k *keyer) from(sel *doctype.Select) error {
	if len(sel.Joins) > maxJoins {
		return fault.Invalid("", "A list may reach into %d other tables", maxJoins)
	}
	k.number(len(sel.Joins))
	for _, j := range sel.Joins {
		k.text(j.Via.Name)
		k.number(int(k.s.types.shapes(j.Target).id))
		if j.Via.Kind == doctype.Rows {
			k.args = append(k.args, sel.DocType.Name, j.Via.Name)
		}
		if err := k.where(j.On); err != nil {
			return err
		}
	}
	return nil
}

// list is the key of a list.
func (k *keyer) list(sel *doctype.Select, how way) error {
	if len(sel.Columns) > maxOutputs {
		return fault.Invalid("", "A list may have %d columns", maxOutputs)
	}
	k.key = append(k.key, 'S')
	k.number(int(how))
	if err := k.from(sel); err != nil {
		return err
	}
	k.number(len(sel.Columns))
	for _, c := range sel.Columns {
		k.operand(c.Operand)
		k.text(string(c.Func))
		k.text(c.Key)
	}
	if err := k.where(sel.Where); err != nil {
		return err
	}
	k.number(len(sel.Order))
	for _, o := range sel.Order {
		k.text(o.Alias)
		k.operand(o.Operand)
		k.flag(o.Desc)
	}
	k.groups(sel)
	switch _, planned := onePlan(sel); {
	case planned, how != plainly:
		k.number(sel.Length + 1)
	case sel.Length > 0:
		k.number(1)
		k.args = append(k.args, int64(sel.Length))
	default:
		k.number(0)
	}
	k.flag(sel.Start > 0)
	if sel.Start > 0 {
		k.args = append(k.args, int64(sel.Start))
	}
	return nil
}

// count is the key of a count.
func (k *keyer) count(sel *doctype.Select) error {
	k.key = append(k.key, 'C')
	if err := k.from(sel); err != nil {
		return err
	}
	if err := k.where(sel.Where); err != nil {
		return err
	}
	k.groups(sel)
	return nil
}

func (k *keyer) groups(sel *doctype.Select) {
	k.number(len(sel.Group))
	for _, g := range sel.Group {
		k.operand(g)
	}
}

func (k *keyer) where(w doctype.Where) error {
	if w == nil {
		k.key = append(k.key, '-')
		return nil
	}
	if err := k.s.engine.walkWhere(w, k); err != nil {
		return err
	}
	if k.terms > maxTerms {
		return fault.Invalid("", "A list may have %d conditions", maxTerms)
	}
	return nil
}

// keep caches a statement under the key, unless the key is so long that hardly
// anybody will ask for it again.
func (k *keyer) keep(in *shapes, st *statement) *statement {
	if len(k.key) > maxKey {
		st.fleeting = true
		return st
	}
	return in.texts.put(string(k.key), st)
}

func (k *keyer) open(some bool) {
	k.terms++
	k.key = append(k.key, '(')
	k.flag(some)
}

func (k *keyer) term(c *doctype.Compare, t term) {
	k.terms++
	k.key = append(k.key, t.op)
	k.flag(t.null)
	k.operand(c.Operand)
	k.args = append(k.args, t.args...)
}

func (k *keyer) enter(s *doctype.Some) {
	k.terms++
	k.key = append(k.key, 'x')
	k.flag(s.Not)
	k.flag(s.Begin)
	k.operand(s.Of)
	k.number(int(k.s.types.shapes(s.Target).id))
	k.field(s.Key)
	k.field(s.Below)
}

func (k *keyer) leave() { k.key = append(k.key, ';') }

func (k *keyer) close() { k.key = append(k.key, ')') }
