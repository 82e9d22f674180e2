package store

import (
	"encoding/binary"
	"sync"

	"armature/core/document"
)

// keyer turns a list into the key of its shape and the arguments of its
// values, in one walk.
type keyer struct {
	s    *Store
	key  []byte
	args []any
}

var keyers = sync.Pool{New: func() any { return new(keyer) }}

func (s *Store) takeKeyer() *keyer {
	k := keyers.Get().(*keyer)
	k.s, k.key = s, k.key[:0]
	k.args = make([]any, 0, 8) // drivers may keep it
	return k
}

func (k *keyer) put() {
	k.s, k.args = nil, nil
	keyers.Put(k)
}

func (k *keyer) number(n int)  { k.key = binary.AppendUvarint(k.key, uint64(n)) }
func (k *keyer) text(s string) { k.number(len(s)); k.key = append(k.key, s...) }
func (k *keyer) flag(b bool)   { k.key = append(k.key, map[bool]byte{false: '0', true: '1'}[b]) }
func (k *keyer) field(f *document.Field) {
	if f == nil {
		k.number(0)
		return
	}
	k.number(f.Index + 1)
}

func (k *keyer) operand(o document.Operand) {
	k.number(o.Join)
	k.field(o.Field)
}

// from adds the joined tables.
func (k *keyer) from(sel *document.Select) {
	k.number(len(sel.Joins))
	for _, j := range sel.Joins {
		k.text(j.Via.Name)
		k.number(int(k.s.types.shapes(j.Target).id))
		if j.Via.Storage == document.Rows {
			k.args = append(k.args, sel.DocType.Name, j.Via.Name)
		}
	}
}

// list is the key of a list.
func (k *keyer) list(sel *document.Select) error {
	k.key = append(k.key, 'S')
	k.from(sel)
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
	k.flag(sel.Length > 0)
	if sel.Length > 0 {
		k.args = append(k.args, int64(sel.Length))
	}
	k.flag(sel.Start > 0)
	if sel.Start > 0 {
		k.args = append(k.args, int64(sel.Start))
	}
	return nil
}

// count is the key of a count.
func (k *keyer) count(sel *document.Select) error {
	k.key = append(k.key, 'C')
	k.from(sel)
	if err := k.where(sel.Where); err != nil {
		return err
	}
	k.groups(sel)
	return nil
}

func (k *keyer) groups(sel *document.Select) {
	k.number(len(sel.Group))
	for _, g := range sel.Group {
		k.operand(g)
	}
}

func (k *keyer) where(w document.Where) error {
	if w == nil {
		k.key = append(k.key, '-')
		return nil
	}
	return k.s.engine.walkWhere(w, k)
}

func (k *keyer) open(any bool) {
	k.key = append(k.key, '(')
	k.flag(any)
}

func (k *keyer) term(c *document.Compare, t term) {
	k.key = append(k.key, t.op)
	k.flag(t.null)
	k.operand(c.Operand)
	k.args = append(k.args, t.args...)
}

func (k *keyer) close() { k.key = append(k.key, ')') }
