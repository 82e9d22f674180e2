package store

import (
	"context"
	"fmt"

	"armature/core/doctype"
)

// Integrity has the database look for damage in itself and returns what it says:
// SQLite reads every page and compares every index, which takes as long as reading
// the file. PostgreSQL offers no such thing to its clients; it reports damage where
// it reads it.
func (s *Store) Integrity(ctx context.Context) (wrong []string, err error) {
	if s.engine.integrity == "" {
		return nil, nil
	}
	st := &statement{text: s.engine.integrity, cells: []cell{{}}, fleeting: true}
	err = s.query(ctx, s.backend.reader(), st, nil, func(row []any) error {
		if line, _ := row[0].(string); line != "ok" {
			wrong = append(wrong, line)
		}
		return nil
	})
	return wrong, s.explain(err, nil, "")
}

// Lacks lists what the table of a DocType does not have: itself, columns, the right
// types of them, indexes. Migrate adds it.
func (s *Store) Lacks(ctx context.Context, dt *doctype.DocType) (lacks []string, err error) {
	m := migration{s: s, c: s.backend.reader(), dt: dt}
	if err := m.readTable(ctx); err != nil {
		return nil, s.explain(err, dt, "")
	}
	if len(m.stored) == 0 {
		return []string{"everything: it does not exist"}, nil
	}
	for _, f := range dt.Columns {
		typ, want := m.stored[f.Column], s.engine.columnType(f)
		switch {
		case typ == "":
			lacks = append(lacks, "the column "+f.Column)
		case baseType(typ) != baseType(want):
			lacks = append(lacks, fmt.Sprintf("the type %s of the column %s, which has %s", want, f.Column, typ))
		case s.engine.alterType && m.tooNarrow(f, typ):
			lacks = append(lacks, fmt.Sprintf("room in the column %s", f.Column))
		}
	}
	for _, ix := range s.indexesOf(dt) {
		if !m.indexed[ix.name] {
			lacks = append(lacks, "the index "+ix.name)
		}
	}
	return lacks, nil
}
