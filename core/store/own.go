package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

// schemaRow is the one row by which processes learn that what they cached is
// stale.
type schemaRow struct {
	bun.BaseModel `bun:"table:armature_schema"`

	ID      int64 `bun:"id,pk,type:bigint"`
	Version int64 `bun:"version,notnull,type:bigint"`
	Epoch   int64 `bun:"epoch,notnull,type:bigint"`
}

// counterRow is a named counter, for naming series.
type counterRow struct {
	bun.BaseModel `bun:"table:armature_counter"`

	Name  string `bun:"name,pk,type:text"`
	Value int64  `bun:"value,notnull,type:bigint"`
}

// ownStatements run on the store's own tables.
type ownStatements struct {
	versions, lockSchema, bumpSchema, bumpEpoch, next, giveBack *statement
}

func (s *Store) newOwnStatements() ownStatements {
	p, back := s.engine.params(), s.engine.params()
	number := []cell{{}}
	return ownStatements{
		versions:   s.fixed([]cell{{}, {}}, "SELECT version, epoch FROM armature_schema WHERE id = 1"),
		lockSchema: s.fixed(number, "SELECT version FROM armature_schema WHERE id = 1 FOR UPDATE"),
		bumpSchema: s.fixed(number, "UPDATE armature_schema SET version = version + 1 WHERE id = 1 RETURNING version"),
		bumpEpoch:  s.fixed(nil, "UPDATE armature_schema SET epoch = epoch + 1 WHERE id = 1"),
		next: s.fixed(number, "INSERT INTO armature_counter (name, value) VALUES (?, 1) "+
			"ON CONFLICT (name) DO UPDATE SET value = armature_counter.value + 1 RETURNING value", p.next()),
		giveBack: s.fixed(nil, "UPDATE armature_counter SET value = value - 1 WHERE name = ? AND value = ?", back.next(), back.next()),
	}
}

// fixed builds a statement that is none of a DocType's.
func (s *Store) fixed(cells []cell, format string, args ...any) *statement {
	text, err := s.text(expr(format, args...))
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return &statement{text: text, cells: cells}
}

// createOwnTables makes the store's own tables where they are missing. Several
// processes may do so at once: the loser of that race tries again. A database
// that was opened before is only read.
func (s *Store) createOwnTables(ctx context.Context) error {
	found := false
	err := s.query(ctx, s.backend.reader(), s.own.versions, nil, func([]any) error {
		found = true
		return nil
	})
	if err == nil && found {
		return nil
	}
	return s.retry(ctx, time.Now().Add(s.retryFor), func() (class, error) {
		err := s.backend.brief(ctx, func(c conn) error {
			for _, model := range []any{(*schemaRow)(nil), (*counterRow)(nil)} {
				if err := s.ddl(ctx, c, s.bun.NewCreateTable().Model(model).IfNotExists()); err != nil {
					return err
				}
			}
			for n := range s.engine.turns {
				if err := s.ddl(ctx, c, expr("CREATE TABLE IF NOT EXISTS ? ()", bun.Name(turnTable(n)))); err != nil {
					return err
				}
			}
			return s.ddl(ctx, c, expr("INSERT INTO armature_schema (id, version, epoch) VALUES (1, 0, 0) "+
				"ON CONFLICT (id) DO NOTHING"))
		})
		d := s.diagnose(err)
		if d.class == duplicate {
			d.class = again
		}
		return d.class, s.explain(err, nil, "")
	})
}
