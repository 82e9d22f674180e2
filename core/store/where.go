package store

import (
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// sql is the term's SQL for an operand.
func (e *engine) sql(t term, f *doctype.Field, operand schema.QueryAppender, p *params) schema.QueryAppender {
	var q schema.QueryAppender
	switch t.op {
	case never:
		return expr("1 = 0")
	case always:
		return expr("1 = 1")
	case isNull:
		return expr("? IS NULL", operand)
	case notNull:
		return expr("? IS NOT NULL", operand)
	case likes:
		q = expr(e.like, e.textOf(f, operand), p.next())
	case unlike:
		q = expr(e.notLike, e.textOf(f, operand), p.next())
	case within:
		q = expr(e.in, operand, p.next())
	case without:
		q = expr(e.notIn, operand, p.next())
	case ranging:
		if numeric(t, f) {
			q = expr("? BETWEEN (?, ?) AND (?, ?)", byNumber(operand), p.next(), p.next(), p.next(), p.next())
			break
		}
		q = expr("? BETWEEN ? AND ?", operand, p.next(), p.next())
	default:
		if numeric(t, f) {
			q = expr(compareFormats[t.op], byNumber(operand), expr("(?, ?)", p.next(), p.next()))
			break
		}
		q = expr(compareFormats[t.op], operand, p.next())
	}
	if t.null {
		return expr("(? OR ? IS NULL)", q, operand)
	}
	return q
}

func (e *engine) textOf(f *doctype.Field, operand schema.QueryAppender) schema.QueryAppender {
	if format := e.asText[f.Kind]; format != "" {
		return expr(format, operand)
	}
	return operand
}

// visitor sees the comparisons of a filter in the one order in which key, SQL
// and arguments follow each other.
type visitor interface {
	open(some bool) // all or any of what follows
	term(c *doctype.Compare, t term)
	close()
	enter(s *doctype.Some) // what follows is about rows of another table
	leave()
}

// walkWhere shows a filter to a visitor.
func (e *engine) walkWhere(w doctype.Where, v visitor) error {
	var parts []doctype.Where
	switch w := w.(type) {
	case nil:
		return nil
	case doctype.Compare:
		t, err := e.resolve(&w)
		if err != nil {
			return err
		}
		if numeric(t, w.Field) {
			t.args = numericArgs(t.args)
		}
		v.term(&w, t)
		return nil
	case doctype.AllOf:
		v.open(false)
		parts = w
	case doctype.AnyOf:
		v.open(true)
		parts = w
	case doctype.Some:
		v.enter(&w)
		if err := e.walkWhere(w.Where, v); err != nil {
			return err
		}
		v.leave()
		return nil
	}
	for _, part := range parts {
		if err := e.walkWhere(part, v); err != nil {
			return err
		}
	}
	v.close()
	return nil
}

// whereBuilder makes the SQL of a filter.
type whereBuilder struct {
	e       *engine
	p       *params
	how     way
	operand func(doctype.Operand) schema.QueryAppender
	stack   []group
	out     schema.QueryAppender
	outer   []scope
}

// scope is what is left for the rows of another table.
type scope struct {
	some    *doctype.Some
	operand func(doctype.Operand) schema.QueryAppender
	stack   []group
	out     schema.QueryAppender
}

type group struct {
	any   bool
	parts joined
}

func (b *whereBuilder) open(some bool) {
	sep := " AND "
	if some {
		sep = " OR "
	}
	b.stack = append(b.stack, group{any: some, parts: joined{sep: sep}})
}

func (b *whereBuilder) term(c *doctype.Compare, t term) {
	b.emit(b.e.sql(t, c.Field, b.operand(c.Operand), b.p))
}

func (b *whereBuilder) close() {
	g := b.stack[len(b.stack)-1]
	b.stack = b.stack[:len(b.stack)-1]
	switch {
	case len(g.parts.parts) > 0:
		b.emit(expr("(?)", &g.parts))
	case g.any:
		b.emit(expr("1 = 0"))
	default:
		b.emit(expr("1 = 1"))
	}
}

// rowsAlias names the table of the rows that a Some is about.
func rowsAlias(depth int) bun.Name { return bun.Name(fmt.Sprintf("s%d", depth)) }

func (b *whereBuilder) enter(s *doctype.Some) {
	b.outer = append(b.outer, scope{s, b.operand, b.stack, b.out})
	alias := rowsAlias(len(b.outer))
	b.operand = func(o doctype.Operand) schema.QueryAppender { return expr("?.?", alias, bun.Name(o.Field.Column)) }
	b.stack, b.out = nil, nil
}

func (b *whereBuilder) leave() {
	alias := rowsAlias(len(b.outer))
	last := len(b.outer) - 1
	up, inner := b.outer[last], b.out
	b.outer, b.operand, b.stack, b.out = b.outer[:last], up.operand, up.stack, up.out
	format := "EXISTS (SELECT 1 FROM ? AS ? WHERE ?)"
	if b.how != plainly {
		format = "EXISTS (SELECT 1 FROM ? AS ? WHERE ?" + b.e.apart + ")"
	}
	if up.some.Not {
		format = "NOT " + format
	}
	if up.some.Below != nil {
		b.emit(below(up.some, b.operand(up.some.Of), alias, inner))
		return
	}
	met := &joined{sep: " AND "}
	if up.some.Begin {
		if inner == nil {
			inner = expr("1 = 1")
		}
		b.emit(expr(b.e.begin, b.operand(up.some.Of), alias, bun.Name(up.some.Key.Column), bun.Name(up.some.Target.Table), alias, inner))
		return
	}
	met.add("?.? = ?", alias, bun.Name(up.some.Key.Column), b.operand(up.some.Of))
	if inner != nil {
		met.add("?", inner)
	}
	b.emit(expr(format, bun.Name(up.some.Target.Table), alias, met))
}

// below is that an operand names one of some rows, or one that stands below them.
// UNION leaves out what is there already, so that it ends in a circle, too.
func below(s *doctype.Some, of schema.QueryAppender, alias bun.Name, inner schema.QueryAppender) schema.QueryAppender {
	if inner == nil {
		inner = expr("1 = 1")
	}
	key, table, found := bun.Name(s.Key.Column), bun.Name(s.Target.Table), bun.Name(string(alias)+"_found")
	q := expr("? IN (WITH RECURSIVE ? (name) AS (SELECT ?.? FROM ? AS ? WHERE ? UNION SELECT ?.? FROM ? AS ?, ? WHERE ?.? = ?.name) SELECT name FROM ?)",
		of, found, alias, key, table, alias, inner, alias, key, table, alias, found, alias, bun.Name(s.Below.Column), found, found)
	if s.Not {
		return expr("(? IS NULL OR NOT ?)", of, q)
	}
	return q
}

func (b *whereBuilder) emit(q schema.QueryAppender) {
	if len(b.stack) == 0 {
		b.out = q
		return
	}
	top := &b.stack[len(b.stack)-1]
	top.parts.parts = append(top.parts.parts, q)
}

// asksRows reports whether a filter asks for rows of other tables, beside which
// a column has to say whose it is.
func asksRows(w doctype.Where) bool {
	switch w := w.(type) {
	case doctype.Some:
		return true
	case doctype.AllOf:
		return slices.ContainsFunc(w, asksRows)
	case doctype.AnyOf:
		return slices.ContainsFunc(w, asksRows)
	}
	return false
}
