package store

import (
	"context"
	"regexp"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
	"armature/core/fault"
)

// ourIndex is the form of the names that indexName makes. An index under any
// other name is an operator's, and stays.
var ourIndex = regexp.MustCompile(`_(ix|uq)[0-9a-f]{8}$`)

// dropIndexes drops those that no field asks for any more, of whichever
// definition they are left: a unique one would go on refusing documents.
func (m *migration) dropIndexes(ctx context.Context) error {
	wanted := map[string]bool{}
	for _, ix := range m.s.indexesOf(m.dt) {
		wanted[ix.name] = true
	}
	for name, finished := range m.indexed {
		if wanted[name] && finished || !ourIndex.MatchString(name) {
			continue
		}
		if err := m.dropIndex(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) dropIndex(ctx context.Context, name string) error {
	if _, there := m.indexed[name]; !there {
		return nil
	}
	delete(m.indexed, name)
	return m.alter(ctx, "DROP INDEX ?", bun.Name(name))
}

// createIndexes makes those that are missing. Where nothing else of the table
// changes readers go on meanwhile, and writers wait.
func (m *migration) createIndexes(ctx context.Context) error {
	for _, ix := range m.s.indexesOf(m.dt) {
		if m.indexed[ix.name] {
			continue
		}
		if !m.locked && len(m.stored) > 0 {
			if err := m.lockFor(ctx, "SHARE"); err != nil {
				return err
			}
		}
		err := m.s.ddl(ctx, m.c, m.createIndex(ix))
		switch m.s.diagnose(err).class {
		case duplicate:
			return fault.Wrap(fault.Validation, "UniqueValidationError", err,
				"%s cannot be unique: some documents have the same value", ix.label)
		case tooLong:
			return fault.Wrap(fault.Timeout, "", err,
				"Indexing %s took too long. Make the index %s beside the running server, and save again", ix.label, ix.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) createIndex(ix index) schema.QueryAppender {
	q := m.s.bun.NewCreateIndex().
		IndexExpr("?", bun.Name(ix.name)).
		TableExpr("?", bun.Name(m.dt.Table)).
		IfNotExists() // another process may have made it since
	if ix.unique {
		q.Unique()
	}
	for _, f := range ix.fields {
		format := "?"
		if m.s.engine.indexNulls && !ix.unique && nullable(doctype.Operand{Field: f}) {
			format = "? NULLS FIRST"
		}
		q.ColumnExpr(format, bun.Name(f.Column))
	}
	return q
}
