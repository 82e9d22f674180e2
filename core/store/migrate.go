package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
	"armature/core/fault"
)

// maxColumns is below what either database allows, whose limits differ.
const maxColumns = 1000

// Migrate implements document.Tx. Where the table is in use its lock is waited
// for in short turns of the whole transaction: a waiting ALTER TABLE would hold
// up every reader behind it.
func (t *tx) Migrate(ctx context.Context, dt *doctype.DocType) error {
	if err := checkNames(dt); err != nil {
		return err
	}
	err := t.write(ctx, dt, dt.Name, true, func(c conn) error {
		m := migration{s: t.s, c: c, dt: dt}
		return m.run(ctx)
	})
	if t.s.diagnose(err).class == busy {
		t.why = lockBusy
	}
	return err
}

func checkNames(dt *doctype.DocType) error {
	if len(dt.Columns) > maxColumns {
		return fault.Invalid("", "%s has %d fields; a DocType may have %d", dt.Name, len(dt.Columns), maxColumns)
	}
	if len(dt.Table) > maxIdentifier {
		return fmt.Errorf("store: table name %q is longer than %d bytes", dt.Table, maxIdentifier)
	}
	for _, f := range dt.Columns {
		if len(f.Column) > maxIdentifier {
			return fmt.Errorf("store: column name %q is longer than %d bytes", f.Column, maxIdentifier)
		}
	}
	return nil
}

// migration brings the table of one DocType to its definition.
type migration struct {
	s       *Store
	c       conn
	dt      *doctype.DocType
	stored  map[string]string // columns of the table and their types
	indexed map[string]bool   // indexes of the table; false: one that was never finished
	locked  bool
}

// takeTurn lets one process at a time change tables: CREATE TABLE IF NOT EXISTS
// fails where two make the same table at once. SQLite has one writer anyway.
func (m *migration) takeTurn(ctx context.Context) error {
	if !m.s.engine.rowLock {
		return nil
	}
	return m.s.query(ctx, m.c, m.s.own.lockSchema, nil, func([]any) error { return nil })
}

func (m *migration) run(ctx context.Context) error {
	if err := m.takeTurn(ctx); err != nil {
		return err
	}
	if err := m.readTable(ctx); err != nil {
		return err
	}
	if len(m.stored) == 0 {
		if err := m.createTable(ctx); err != nil {
			return err
		}
		return m.createIndexes(ctx)
	}
	if err := m.dropIndexes(ctx); err != nil {
		return err
	}
	if err := m.alterTable(ctx); err != nil {
		return err
	}
	return m.createIndexes(ctx)
}

// readTable asks the database what is there: a table may be left from a DocType
// that was deleted.
func (m *migration) readTable(ctx context.Context) error {
	m.stored, m.indexed = map[string]string{}, map[string]bool{}
	err := m.catalogue(ctx, m.s.engine.columnsQuery, func(name, typ string) { m.stored[name] = typ })
	if err != nil || len(m.stored) == 0 {
		return err
	}
	return m.catalogue(ctx, m.s.engine.indexesQuery, func(name, state string) { m.indexed[name] = state == "valid" })
}

// catalogue runs a query about the table that answers with pairs of text.
func (m *migration) catalogue(ctx context.Context, query string, each func(name, value string)) error {
	text, err := m.s.text(expr(query, m.s.engine.params().next()))
	if err != nil {
		return err
	}
	st := &statement{text: text, cells: []cell{{}, {}}, fleeting: true}
	return m.s.query(ctx, m.c, st, []any{m.dt.Table}, func(row []any) error {
		name, _ := row[0].(string)
		value, _ := row[1].(string)
		each(name, value)
		return nil
	})
}

// noColumns is the model of a table all of whose columns are expressions: bun
// wants one.
type noColumns struct{}

func (m *migration) createTable(ctx context.Context) error {
	q := m.s.bun.NewCreateTable().Model((*noColumns)(nil)).ModelTableExpr("?", bun.Name(m.dt.Table)).IfNotExists()
	for i, f := range m.dt.Columns {
		if i == doctype.ColName {
			q.ColumnExpr("? ? NOT NULL PRIMARY KEY", bun.Name(f.Column), bun.Safe(m.s.engine.columnType(f)))
			continue
		}
		q.ColumnExpr("? ?", bun.Name(f.Column), bun.Safe(m.s.engine.columnType(f)))
	}
	return m.s.ddl(ctx, m.c, q)
}

func (m *migration) alterTable(ctx context.Context) error {
	for _, f := range m.dt.Columns {
		typ, want := m.stored[f.Column], m.s.engine.columnType(f)
		switch {
		case typ == "":
			if err := m.addColumn(ctx, f); err != nil {
				return err
			}
		case baseType(typ) != baseType(want):
			if err := m.replaceColumn(ctx, f); err != nil {
				return err
			}
		case m.s.engine.alterType && m.tooNarrow(f, typ):
			err := m.alter(ctx, "ALTER TABLE ? ALTER COLUMN ? TYPE ?", bun.Name(m.dt.Table), bun.Name(f.Column), bun.Safe(want))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// addColumn gives documents that are there already a number's default, which
// costs nothing: neither database rewrites the table for a constant.
func (m *migration) addColumn(ctx context.Context, f *doctype.Field) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	number := "0"
	if v, err := doctype.Coerce(f, f.Default, time.UTC); err == nil {
		switch v := v.(type) {
		case int64:
			number = strconv.FormatInt(v, 10)
		case float64:
			number = string(doctype.AppendFloat(nil, v))
		}
	}
	return m.s.ddl(ctx, m.c, m.s.bun.NewAddColumn().
		TableExpr("?", bun.Name(m.dt.Table)).
		ColumnExpr("? ?", bun.Name(f.Column), bun.Safe(m.s.engine.columnTypeWith(f, number))))
}

// replaceColumn puts aside a column of another type that a deleted DocType left
// under this name. A living DocType never comes here: a field whose kind
// changes gets a new column. Indexes would go along under the names that those
// of the new column need.
func (m *migration) replaceColumn(ctx context.Context, f *doctype.Field) error {
	for _, ix := range m.s.indexesOf(m.dt) {
		if slices.Contains(ix.fields, f) {
			if err := m.dropIndex(ctx, ix.name); err != nil {
				return err
			}
		}
	}
	aside := m.asideName(f.Column)
	m.stored[aside] = m.stored[f.Column]
	if err := m.alter(ctx, "ALTER TABLE ? RENAME COLUMN ? TO ?", bun.Name(m.dt.Table), bun.Name(f.Column), bun.Name(aside)); err != nil {
		return err
	}
	return m.addColumn(ctx, f)
}

// asideName is a free name for a column that stands in the way.
func (m *migration) asideName(column string) string {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("old%d_%s", n, column)
		if len(aside) > maxIdentifier {
			aside = strings.ToValidUTF8(aside[:maxIdentifier], "")
		}
		if _, taken := m.stored[aside]; !taken {
			return aside
		}
	}
}

// tooNarrow reports whether a stored text column is shorter than the field
// needs. Columns are never made shorter.
func (m *migration) tooNarrow(f *doctype.Field, stored string) bool {
	return f.Kind == doctype.Text && !isShort(f) && strings.Contains(stored, "(")
}

func (m *migration) alter(ctx context.Context, format string, args ...any) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	return m.s.ddl(ctx, m.c, expr(format, args...))
}

// lock takes the table before the first change of it.
func (m *migration) lock(ctx context.Context) error {
	if m.locked {
		return nil
	}
	m.locked = true
	return m.lockFor(ctx, "ACCESS EXCLUSIVE")
}

// lockFor takes a lock of the table and gives up soon: while one waits,
// everybody waits behind it. What the transaction does next waits as usual.
func (m *migration) lockFor(ctx context.Context, mode string) error {
	if !m.s.engine.lockTimeout {
		return nil
	}
	for _, q := range []schema.QueryAppender{
		expr("SET LOCAL lock_timeout = '50ms'"),
		expr("LOCK TABLE ? IN ? MODE", bun.Name(m.dt.Table), bun.Safe(mode)),
		expr("SET LOCAL lock_timeout TO DEFAULT"),
	} {
		if err := m.s.ddl(ctx, m.c, q); err != nil {
			return err
		}
	}
	return nil
}
