package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/document"
	"armature/core/fault"
)

// maxColumns is below what either database allows, whose limits differ.
const maxColumns = 1000

// Migrate implements document.Tx. Where the table is in use its lock is waited
// for in short turns of the whole transaction: a waiting ALTER TABLE would hold
// up every reader behind it.
func (t *tx) Migrate(ctx context.Context, old, new *document.DocType) error {
	if err := checkNames(new); err != nil {
		return err
	}
	err := t.write(ctx, new, new.Name, true, func(c conn) error {
		m := migration{s: t.s, c: c, old: old, new: new}
		return m.run(ctx)
	})
	if t.why == busy {
		t.why = lockBusy
	}
	return err
}

func checkNames(dt *document.DocType) error {
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
	s        *Store
	c        conn
	old, new *document.DocType
	stored   map[string]string // columns of the table and their types
	locked   bool
}

func (m *migration) run(ctx context.Context) error {
	if err := m.readColumns(ctx); err != nil {
		return err
	}
	if len(m.stored) == 0 {
		if err := m.createTable(ctx); err != nil {
			return err
		}
	} else if err := m.alterTable(ctx); err != nil {
		return err
	}
	return m.indexes(ctx)
}

// readColumns asks the database what is there: a table may be left from a
// DocType that was deleted.
func (m *migration) readColumns(ctx context.Context) error {
	m.stored = map[string]string{}
	text, err := m.s.text(expr(m.s.engine.columnsQuery, m.s.engine.params().next()))
	if err != nil {
		return err
	}
	st := &statement{text: text, cells: []cell{{}, {}}, fleeting: true}
	return m.s.query(ctx, m.c, st, []any{m.new.Table}, func(row []any) error {
		name, _ := row[0].(string)
		m.stored[name], _ = row[1].(string)
		return nil
	})
}

// noColumns is the model of a table all of whose columns are expressions: bun
// wants one.
type noColumns struct{}

func (m *migration) createTable(ctx context.Context) error {
	q := m.s.bun.NewCreateTable().Model((*noColumns)(nil)).ModelTableExpr("?", bun.Name(m.new.Table)).IfNotExists()
	for i, f := range m.new.Columns {
		if i == document.ColName {
			q.ColumnExpr("? ? NOT NULL PRIMARY KEY", bun.Name(f.Column), bun.Safe(m.s.engine.columnType(f)))
			continue
		}
		q.ColumnExpr("? ?", bun.Name(f.Column), bun.Safe(m.s.engine.columnType(f)))
	}
	return m.s.ddl(ctx, m.c, q)
}

func (m *migration) alterTable(ctx context.Context) error {
	for _, f := range m.new.Columns {
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
			err := m.alter(ctx, "ALTER TABLE ? ALTER COLUMN ? TYPE ?", bun.Name(m.new.Table), bun.Name(f.Column), bun.Safe(want))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *migration) addColumn(ctx context.Context, f *document.Field) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	return m.s.ddl(ctx, m.c, m.s.bun.NewAddColumn().
		TableExpr("?", bun.Name(m.new.Table)).
		ColumnExpr("? ?", bun.Name(f.Column), bun.Safe(m.s.engine.columnType(f))))
}

// replaceColumn puts aside a column of another type that a deleted DocType left
// under this name. A living DocType never comes here: a field whose storage
// changes gets a new column.
func (m *migration) replaceColumn(ctx context.Context, f *document.Field) error {
	aside := ""
	for n := 1; ; n++ {
		aside = fmt.Sprintf("old%d_%s", n, f.Column)
		if len(aside) > maxIdentifier {
			aside = aside[:maxIdentifier]
		}
		if _, taken := m.stored[aside]; !taken {
			break
		}
	}
	m.stored[aside] = m.stored[f.Column]
	if err := m.alter(ctx, "ALTER TABLE ? RENAME COLUMN ? TO ?", bun.Name(m.new.Table), bun.Name(f.Column), bun.Name(aside)); err != nil {
		return err
	}
	return m.addColumn(ctx, f)
}

// tooNarrow reports whether a stored text column is shorter than the field
// needs. Columns are never made shorter.
func (m *migration) tooNarrow(f *document.Field, stored string) bool {
	return f.Storage == document.Text && !isShort(f) && strings.Contains(stored, "(")
}

func (m *migration) alter(ctx context.Context, format string, args ...any) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	return m.s.ddl(ctx, m.c, expr(format, args...))
}

// lock takes the table before the first change of it, and gives up soon: while
// an ALTER TABLE waits, everybody waits behind it.
func (m *migration) lock(ctx context.Context) error {
	if !m.s.engine.lockTimeout || m.locked {
		return nil
	}
	m.locked = true
	if err := m.s.ddl(ctx, m.c, expr("SET LOCAL lock_timeout = '50ms'")); err != nil {
		return err
	}
	return m.s.ddl(ctx, m.c, expr("LOCK TABLE ? IN ACCESS EXCLUSIVE MODE", bun.Name(m.new.Table)))
}

// indexes makes the indexes that the fields ask for and drops the unique ones
// they no longer do.
func (m *migration) indexes(ctx context.Context) error {
	for _, ix := range m.s.indexesOf(m.new) {
		if m.unchanged(ix) {
			continue
		}
		err := m.s.ddl(ctx, m.c, m.createIndex(ix))
		if m.s.diagnose(err).class == duplicate {
			return fault.Wrap(fault.Validation, "UniqueValidationError", err,
				"%s cannot be unique: some documents have the same value", ix.label)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range m.new.Columns {
		if f.Unique || len(m.stored) == 0 || !m.wasUnique(f) {
			continue
		}
		err := m.alter(ctx, "DROP INDEX IF EXISTS ?", bun.Name(uniqueIndexName(m.new, f)))
		if err != nil {
			return err
		}
	}
	return nil
}

// unchanged reports whether the old definition had the index, so that a change
// elsewhere takes no lock here.
func (m *migration) unchanged(ix index) bool {
	if m.old == nil || len(m.stored) == 0 {
		return false
	}
	for _, had := range m.s.indexesOf(m.old) {
		if had.name == ix.name {
			return true
		}
	}
	return false
}

func (m *migration) wasUnique(f *document.Field) bool {
	if m.old == nil {
		return true // left by nobody knows whom
	}
	for _, had := range m.old.Columns {
		if had.Column == f.Column {
			return had.Unique
		}
	}
	return false
}

func (m *migration) createIndex(ix index) schema.QueryAppender {
	q := m.s.bun.NewCreateIndex().
		IndexExpr("?", bun.Name(ix.name)).
		TableExpr("?", bun.Name(m.new.Table)).
		IfNotExists()
	if ix.unique {
		q.Unique()
	}
	for _, f := range ix.fields {
		format := "?"
		if m.s.engine.indexNulls && !ix.unique && nullable(document.Operand{Field: f}) {
			format = "? NULLS FIRST"
		}
		q.ColumnExpr(format, bun.Name(f.Column))
	}
	return q
}
