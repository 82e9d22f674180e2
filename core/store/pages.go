package store

import (
	"context"
	"sync/atomic"

	"github.com/uptrace/bun"

	"armature/core/doctype"
)

// way is how the rows of a list are looked for.
type way int

// A list of which conditions on other tables decide has no good plan that holds
// for every caller: the page of one who sees half of the documents is found by
// walking them in order, that of one who sees five of a hundred thousand by
// beginning with what gives them those. The databases do not know which it is,
// and guess. So such a list walks a few rows, and begins elsewhere when they hold
// too little.
const (
	plainly way = iota // as the database finds best
	seeking            // beginning with what few documents meet
	walking            // the first so many rows in the order of the list, and more
)

// How many rows are walked at first, and at most.
const (
	firstWalk = 256
	maxWalk   = 16 * firstWalk
)

// retry is how many pages in a row begin elsewhere at once, after walking found
// too little, until it is tried again.
const retry = 64

// choosy reports whether a list is looked for in more than one way: the first
// page, in the order of modified, of documents that others decide on.
func choosy(sel *doctype.Select) bool {
	modified := sel.DocType.Columns[doctype.ColModified]
	return len(sel.Joins) == 0 && !aggregated(sel) && sel.Start == 0 && sel.Length > 0 && sel.Length <= maxLiteral &&
		len(sel.Order) == 1 && sel.Order[0].Alias == "" && sel.Order[0].Field == modified && asksRows(sel.Where)
}

// list runs a list, in the way that suits it. again is called before the rows
// come anew: those that came are not the page.
func (t *tx) list(ctx context.Context, sel *doctype.Select, again func(), fn func(*statement, []any) error) error {
	if !choosy(sel) {
		return t.rowsOf(ctx, sel, plainly, fn)
	}
	by, ok := found(sel.Where)
	if !ok {
		return t.rowsOf(ctx, sel, plainly, fn)
	}
	few := *sel
	few.Where = by
	begin, _, err := t.s.listStatement(&few, seeking)
	if err != nil {
		return err
	}
	if begin.seeks.skips() {
		return t.rowsOf(ctx, &few, seeking, fn)
	}
	for rows := firstWalk; rows <= maxWalk; {
		came := 0
		err := t.rowsOf(ctx, sel, walking+way(rows), func(st *statement, values []any) error {
			came++
			return fn(st, values)
		})
		if err != nil || came == sel.Length {
			return err
		}
		again()
		if came == 0 {
			break
		}
		rows *= 16
	}
	begin.seeks.note()
	return t.rowsOf(ctx, &few, seeking, fn)
}

// seeks remembers that walking was in vain.
type seeks struct{ left atomic.Int32 }

func (s *seeks) note() { s.left.Store(retry) }

func (s *seeks) skips() bool { return s.left.Load() > 0 && s.left.Add(-1) >= 0 }

// rowsOf runs a list in one way.
func (t *tx) rowsOf(ctx context.Context, sel *doctype.Select, how way, fn func(*statement, []any) error) error {
	st, args, err := t.s.listStatement(sel, how)
	if err != nil {
		return err
	}
	return t.read(ctx, st, "", args, func(values []any) error { return fn(st, values) })
}

// newest keeps a walk to the first rows in the order of the list: those that are
// no further than the last of them. Of a table that has fewer it keeps none.
func (b *selection) newest() {
	if b.how <= walking {
		return
	}
	by := b.sel.Order[0]
	format := "? <= (SELECT ? FROM ? ORDER BY ?, ? LIMIT 1 OFFSET ?)"
	if by.Desc {
		format = "? >= (SELECT ? FROM ? ORDER BY ? DESC, ? DESC LIMIT 1 OFFSET ?)"
	}
	dt := b.sel.DocType
	modified, name := bun.Name(by.Field.Column), bun.Name(dt.Columns[doctype.ColName].Column)
	b.q.Where(format, b.operand(by.Operand), modified, bun.Name(dt.Table), modified, name, int(b.how-walking)-1)
}
