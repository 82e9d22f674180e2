package store

import (
	"context"
	"log/slog"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// Replace implements document.Tx. It is for what happens seldom, a rename
// above all, so its statements are not kept.
func (t *tx) Replace(ctx context.Context, dt *doctype.DocType, f *doctype.Field, where doctype.Where, value any) (int64, error) {
	k := t.s.takeKeyer()
	defer k.put()
	if err := k.where(where); err != nil {
		return 0, err
	}
	p := t.s.engine.params()
	q := t.s.bun.NewUpdate().TableExpr("?", bun.Name(dt.Table)).Set("? = ?", bun.Name(f.Column), p.next())
	w := &whereBuilder{e: &t.s.engine, p: p, operand: func(o doctype.Operand) schema.QueryAppender {
		return expr("?.?", bun.Name(dt.Table), bun.Name(o.Field.Column))
	}}
	if err := t.s.engine.walkWhere(where, w); err != nil {
		return 0, err
	}
	if w.out == nil {
		w.out = expr("1 = 1")
	}
	text, err := t.s.text(q.Where("?", w.out))
	if err != nil {
		return 0, err
	}
	args := append([]any{bind(f, value)}, k.args...)
	name, _ := value.(string)
	var changed int64
	err = t.write(ctx, dt, name, false, func(c conn) (err error) {
		changed, err = t.s.exec(ctx, c, &statement{text: text, dt: dt, fleeting: true}, args)
		return err
	})
	if changed > 0 && err == nil {
		t.changed(dt, "")
	}
	return changed, err
}

// Return implements document.Tx.
func (t *tx) Return(ctx context.Context, counter string, value int64) error {
	if t.s.engine.races && t.kind == whole {
		// The counter takes no part in the transaction: nobody must be given the
		// number before the name that holds it is free.
		t.AfterCommit(func() {
			if _, err := t.s.exec(context.WithoutCancel(ctx), t.s.backend.reader(), t.s.own.giveBack, []any{counter, value}); err != nil {
				t.s.log.Warn("a number was not given back to its series", slog.String("counter", counter), slog.Any("error", err))
			}
		})
		return nil
	}
	return t.write(ctx, nil, "", false, func(c conn) error {
		_, err := t.s.exec(ctx, c, t.s.own.giveBack, []any{counter, value})
		return err
	})
}

// MoveCounters implements document.Tx.
func (t *tx) MoveCounters(ctx context.Context, from, to string) error {
	return t.write(ctx, nil, "", false, func(c conn) error {
		if _, err := t.s.exec(ctx, c, t.s.own.copyCounters, []any{to, from, from, from}); err != nil {
			return err
		}
		_, err := t.s.exec(ctx, c, t.s.own.dropCounters, []any{from, from})
		return err
	})
}
