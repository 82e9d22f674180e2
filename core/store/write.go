package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
	"armature/core/document"
)

// Insert implements document.Tx.
func (t *tx) Insert(ctx context.Context, doc *doctype.Document, needs ...document.Need) error {
	many := slices.ContainsFunc(doc.Type.Tables, func(f *doctype.Field) bool { return len(doc.Rows(f.Name)) > 0 })
	unmet := false
	err := t.write(ctx, doc.Type, doc.Name(), many, func(c conn) error {
		err := t.s.insertRow(ctx, c, doc.Type, bound(doc), needs...)
		if unmet = errors.Is(err, document.ErrUnmet); unmet {
			return nil // nothing failed: the transaction goes on
		}
		if err != nil {
			return err
		}
		for _, table := range doc.Type.Tables {
			if err := t.s.insertRows(ctx, c, doc, table); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && unmet {
		return document.ErrUnmet
	}
	if err == nil {
		t.changed(doc.Type, doc.Name())
	}
	return t.redraw(err, isDrawn(doc.Name()) || many)
}

// redraw has the function run again where a name is taken that may have been
// drawn: it draws another then.
func (t *tx) redraw(err error, may bool) error {
	d := t.s.diagnose(err)
	if err == nil || !may || d.class != duplicate || !t.s.engine.isKey(d.what) {
		return err
	}
	if t.kind == single {
		return fmt.Errorf("%w: %w", document.ErrLost, err)
	}
	t.drawn = true
	return err
}

// isDrawn reports whether a name looks like one of document.HashName. Where a
// client has chosen it, running again finds it taken again.
func isDrawn(name string) bool {
	return len(name) == 10 && strings.Trim(name, "0123456789abcdefghijklmnopqrstuv") == ""
}

func (s *Store) insertRow(ctx context.Context, c conn, dt *doctype.DocType, values []any, needs ...document.Need) error {
	if len(needs) > 0 {
		return s.insertNeeding(ctx, c, dt, values, needs)
	}
	st, err := s.statement(dt, "insert", func() (schema.QueryAppender, []cell) {
		p := s.engine.params()
		return expr("INSERT INTO ? (?) VALUES (?)", bun.Name(dt.Table), columnList(dt.Columns), places(p, len(dt.Columns))), nil
	})
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, c, st, values)
	return err
}

// bound are the values of a document as they go to the database: what may not
// be null is zero.
func bound(doc *doctype.Document) []any {
	values := doc.Values()
	cloned := false
	for i, f := range doc.Type.Columns {
		if values[i] == nil && !f.Kind.Nullable() {
			if !cloned {
				values, cloned = slices.Clone(values), true
			}
			values[i] = int64(0)
		}
	}
	return values
}

func bind(f *doctype.Field, v any) any {
	if v == nil && !f.Kind.Nullable() {
		return int64(0)
	}
	return v
}

// Update implements document.Tx.
func (t *tx) Update(ctx context.Context, sc *doctype.Schema, doc *doctype.Document, columns, tables []*doctype.Field, expect string, needs ...document.Need) (bool, error) {
	args := make([]any, 0, len(columns)+len(needs)+2)
	values := doc.Values()
	for _, f := range columns {
		args = append(args, bind(f, values[f.Index]))
	}
	args = append(args, doc.Name())
	if expect != "" {
		args = append(args, expect)
	}
	if len(columns) == 0 { // nothing to set, but the condition still holds or not
		columns = doc.Type.Columns[doctype.ColName : doctype.ColName+1]
		args = append([]any{doc.Name()}, args...)
	}
	args = appendNeeds(args, needs)
	st, err := t.s.updateStatement(doc.Type, columns, expect != "", needs)
	if err != nil {
		return false, err
	}
	if t.s.engine.races && len(tables) > 0 {
		t.join()
	}
	var changed bool
	err = t.write(ctx, doc.Type, doc.Name(), len(tables) > 0, func(c conn) error {
		n, err := t.s.exec(ctx, c, st, args)
		changed = n == 1
		if err != nil || !changed {
			return err
		}
		for _, table := range tables {
			if err := t.s.replaceRows(ctx, c, sc, doc, table); err != nil {
				return err
			}
		}
		return nil
	})
	if changed && err == nil {
		t.changed(doc.Type, doc.Name())
	}
	return changed && err == nil, t.redraw(err, len(tables) > 0)
}

func (s *Store) updateStatement(dt *doctype.DocType, columns []*doctype.Field, expect bool, needs []document.Need) (*statement, error) {
	key := []byte("update")
	if expect {
		key = append(key, '=')
	}
	for _, f := range columns {
		key = binary.AppendUvarint(key, uint64(f.Index))
	}
	key = s.appendNeedKeys(key, needs)
	if st, ok := s.types.shapes(dt).lookup(key); ok {
		return st, nil
	}
	return s.statement(dt, string(key), func() (schema.QueryAppender, []cell) {
		p := s.engine.params()
		q := s.bun.NewUpdate().TableExpr("?", bun.Name(dt.Table))
		for _, f := range columns {
			q.Set("? = ?", bun.Name(f.Column), p.next())
		}
		q.Where("? = ?", bun.Name("name"), p.next())
		if expect {
			q.Where("? = ?", bun.Name("modified"), p.next())
		}
		if len(needs) > 0 {
			q.Where("?", exist(p, needs))
		}
		return q, nil
	})
}

// UpdateIf implements document.Tx.
func (t *tx) UpdateIf(ctx context.Context, dt *doctype.DocType, name string, expect, set map[string]any) (bool, error) {
	st, args, err := t.s.updateIfStatement(dt, name, expect, set)
	if err != nil {
		return false, err
	}
	var changed bool
	err = t.write(ctx, dt, name, false, func(c conn) error {
		n, err := t.s.exec(ctx, c, st, args)
		changed = n == 1
		return err
	})
	if changed && err == nil {
		t.changed(dt, name)
	}
	return changed && err == nil, err
}

func (s *Store) updateIfStatement(dt *doctype.DocType, name string, expect, set map[string]any) (*statement, []any, error) {
	key := []byte("if")
	var args []any
	settings, err := fieldsOf(dt, set)
	if err != nil {
		return nil, nil, err
	}
	conditions, err := fieldsOf(dt, expect)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range settings {
		key = binary.AppendUvarint(key, uint64(f.Index))
		args = append(args, bind(f, set[f.Name]))
	}
	key = append(key, "if"...)
	args = append(args, name)
	for _, f := range conditions {
		key = binary.AppendUvarint(key, uint64(f.Index))
		if v := bind(f, expect[f.Name]); v == nil {
			key = append(key, '0')
		} else {
			key = append(key, '=')
			args = append(args, v)
		}
	}
	st, err := s.statement(dt, string(key), func() (schema.QueryAppender, []cell) {
		p := s.engine.params()
		q := s.bun.NewUpdate().TableExpr("?", bun.Name(dt.Table))
		for _, f := range settings {
			q.Set("? = ?", bun.Name(f.Column), p.next())
		}
		q.Where("? = ?", bun.Name("name"), p.next())
		for _, f := range conditions {
			if bind(f, expect[f.Name]) == nil {
				q.Where("? IS NULL", bun.Name(f.Column))
			} else {
				q.Where("? = ?", bun.Name(f.Column), p.next())
			}
		}
		return q, nil
	})
	return st, args, err
}

// fieldsOf finds the fields of a map's keys, in the order of the columns.
func fieldsOf(dt *doctype.DocType, values map[string]any) ([]*doctype.Field, error) {
	var fields []*doctype.Field
	for name := range maps.Keys(values) {
		f := dt.Field(name)
		if f == nil || f.Index < 0 {
			return nil, fmt.Errorf("store: %s has no column %q", dt.Name, name)
		}
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b *doctype.Field) int { return a.Index - b.Index })
	return fields, nil
}

// Delete implements document.Tx.
func (t *tx) Delete(ctx context.Context, sc *doctype.Schema, dt *doctype.DocType, name string) (bool, error) {
	st, err := t.s.statement(dt, "delete", func() (schema.QueryAppender, []cell) {
		return t.s.bun.NewDelete().
			TableExpr("?", bun.Name(dt.Table)).
			Where("? = ?", bun.Name("name"), t.s.engine.params().next()), nil
	})
	if err != nil || !storable(name) {
		return false, err
	}
	var deleted bool
	err = t.write(ctx, dt, name, len(dt.Tables) > 0, func(c conn) error {
		n, err := t.s.exec(ctx, c, st, []any{name})
		deleted = n == 1
		if err != nil || !deleted {
			return err
		}
		return t.s.deleteChildren(ctx, c, sc, dt, name)
	})
	if deleted && err == nil {
		t.changed(dt, name)
	}
	return deleted && err == nil, err
}

// Next implements document.Tx.
func (t *tx) Next(ctx context.Context, counter string) (int64, error) {
	if !t.s.engine.races || t.kind == viewing {
		return t.number(ctx, t.s.own.next, counter)
	}
	return t.race.numbers.next(counter, func() (n int64, err error) {
		err = t.s.query(ctx, t.s.backend.reader(), t.s.own.next, []any{counter}, func(row []any) error {
			n, _ = row[0].(int64)
			return nil
		})
		return n, t.s.explain(err, nil, "")
	})
}

// BumpSchema implements document.Tx.
func (t *tx) BumpSchema(ctx context.Context) (int64, error) {
	t.bumped, t.tells = true, true
	return t.number(ctx, t.s.own.bumpSchema)
}

// KeepSchema implements document.Tx.
func (t *tx) KeepSchema(ctx context.Context) (version int64, err error) {
	if t.kind == viewing {
		return 0, document.ErrReadOnly
	}
	err = t.read(ctx, t.s.own.keepSchema, "", nil, func(row []any) error {
		version, _ = row[0].(int64)
		return nil
	})
	return version, err
}

// settle is what a transaction that has changed the DocTypes ends with. It waits
// for those that keep them, and those that come until it has committed begin anew.
func (t *tx) settle(ctx context.Context) error {
	if !t.bumped || !t.s.engine.rowLock {
		return nil
	}
	return t.write(ctx, nil, "", false, func(c conn) error {
		_, err := t.s.exec(ctx, c, t.s.own.settle, nil)
		return err
	})
}

// BumpEpoch implements document.Tx.
func (t *tx) BumpEpoch(ctx context.Context) error {
	t.tells = true
	return t.write(ctx, nil, "", false, func(c conn) error {
		_, err := t.s.exec(ctx, c, t.s.own.bumpEpoch, nil)
		return err
	})
}

// number runs a writing statement that returns one.
func (t *tx) number(ctx context.Context, st *statement, args ...any) (n int64, err error) {
	err = t.write(ctx, nil, "", false, func(c conn) error {
		return t.s.query(ctx, c, st, args, func(row []any) error {
			n, _ = row[0].(int64)
			return nil
		})
	})
	return n, err
}
