package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
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

// settledRow changes whenever a change of the DocTypes is about to be committed.
// The one of schemaRow stays locked for as long as tables are being changed, which
// nobody else waits for.
type settledRow struct {
	bun.BaseModel `bun:"table:armature_settled"`

	ID      int64 `bun:"id,pk,type:bigint"`
	Changes int64 `bun:"changes,notnull,type:bigint"`
}

// ownStatements run on the store's own tables.
type ownStatements struct {
	versions, settled, lockSchema, keepSchema, bumpSchema, settle, bumpEpoch, next, giveBack,
	copyCounters, dropCounters,
	logChanges, follow, changesHere, changesNewer, sweepChanges *statement

	newerArgs int // how often changesNewer takes the position
}

func (s *Store) newOwnStatements() ownStatements {
	p, back, copied, dropped := s.engine.params(), s.engine.params(), s.engine.params(), s.engine.params()
	number := []cell{{}}
	keep := ""
	if s.engine.rowLock {
		keep = " FOR SHARE OF armature_settled"
	}
	log, follow, newer, sweep := s.engine.params(), s.engine.params(), s.engine.params(), s.engine.params()
	several := func(p *params, n int) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = p.next()
		}
		return list
	}
	changes, begins := s.engine.changes, strings.Count(s.engine.changes.newer, "?")
	here := "SELECT " + changes.here + ", v.version, v.epoch, COALESCE(f.since, 0), COALESCE(f.until, 0), c.doctype, c.name, c.recipient, c.data " +
		"FROM armature_schema AS v LEFT JOIN armature_followed AS f ON f.id = 1 LEFT JOIN armature_change AS c ON "
	row := []cell{{}, {}, {}, {}, {}, {}, {}, {}, {}}
	return ownStatements{
		newerArgs:    begins,
		logChanges:   s.fixed(nil, changes.insert, several(log, 2)...),
		changesHere:  s.fixed(row, here+"1 = 0 WHERE v.id = 1"),
		changesNewer: s.fixed(row, here+changes.newer+" WHERE v.id = 1 ORDER BY c.id LIMIT "+strconv.Itoa(maxRead+1), several(newer, begins)...),
		sweepChanges: s.fixed(number, changes.sweep, several(sweep, 1)...),
		follow: s.fixed([]cell{{}}, "INSERT INTO armature_followed (id, since, until) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET "+
			"since = CASE WHEN armature_followed.until < ? THEN excluded.since ELSE armature_followed.since END, "+
			"until = CASE WHEN armature_followed.until < ? THEN excluded.until ELSE armature_followed.until END RETURNING until", several(follow, 4)...),
		versions: s.fixed([]cell{{}, {}, {}}, "SELECT version, epoch, "+followedUntil+" FROM armature_schema WHERE id = 1"),
		settled:  s.fixed(number, "SELECT changes FROM armature_settled WHERE id = 1"),
		keepSchema: s.fixed(number, "SELECT version FROM armature_schema, armature_settled "+
			"WHERE armature_schema.id = 1 AND armature_settled.id = 1"+keep),
		settle:     s.fixed(nil, "UPDATE armature_settled SET changes = changes + 1 WHERE id = 1"),
		lockSchema: s.fixed(number, "SELECT version FROM armature_schema WHERE id = 1 FOR UPDATE"),
		bumpSchema: s.fixed(number, "UPDATE armature_schema SET version = version + 1 WHERE id = 1 RETURNING version"),
		bumpEpoch:  s.fixed(nil, "UPDATE armature_schema SET epoch = epoch + 1 WHERE id = 1"),
		next: s.fixed(number, "INSERT INTO armature_counter (name, value) VALUES (?, 1) "+
			"ON CONFLICT (name) DO UPDATE SET value = armature_counter.value + 1 RETURNING value", p.next()),
		giveBack: s.fixed(nil, "UPDATE armature_counter SET value = value - 1 WHERE name = ? AND value = ?", back.next(), back.next()),
		copyCounters: s.fixed(nil, "INSERT INTO armature_counter (name, value) "+
			"SELECT CAST(? AS TEXT) || substr(name, length(CAST(? AS TEXT)) + 1), value FROM armature_counter "+
			"WHERE substr(name, 1, length(CAST(? AS TEXT))) = CAST(? AS TEXT) "+
			"ON CONFLICT (name) DO UPDATE SET value = excluded.value", copied.next(), copied.next(), copied.next(), copied.next()),
		dropCounters: s.fixed(nil, "DELETE FROM armature_counter WHERE substr(name, 1, length(CAST(? AS TEXT))) = CAST(? AS TEXT)",
			dropped.next(), dropped.next()),
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
// processes may do so at once: the loser of that race, and who waited for the winner in
// vain, tries again. A database that was opened before is only read.
func (s *Store) createOwnTables(ctx context.Context) error {
	found := 0
	var err error
	for _, st := range []*statement{s.own.versions, s.own.settled} {
		err = errors.Join(err, s.query(ctx, s.backend.reader(), st, nil, func([]any) error {
			found++
			return nil
		}))
	}
	if err == nil && found == 2 {
		return nil
	}
	return s.retry(ctx, time.Now().Add(max(s.retryFor, s.lockWait)), nil, func() (class, error) {
		err := s.backend.brief(ctx, func(c conn) error {
			for _, model := range []any{(*schemaRow)(nil), (*settledRow)(nil), (*counterRow)(nil), (*followedRow)(nil)} {
				if err := s.ddl(ctx, c, s.bun.NewCreateTable().Model(model).IfNotExists()); err != nil {
					return err
				}
			}
			for _, text := range s.engine.changes.tables {
				if err := s.ddl(ctx, c, expr(text)); err != nil {
					return err
				}
			}
			for n := range s.engine.turns {
				if err := s.ddl(ctx, c, expr("CREATE TABLE IF NOT EXISTS ? ()", bun.Name(turnTable(n)))); err != nil {
					return err
				}
			}
			return errors.Join(
				s.ddl(ctx, c, expr("INSERT INTO armature_settled (id, changes) VALUES (1, 0) ON CONFLICT (id) DO NOTHING")),
				s.ddl(ctx, c, expr("INSERT INTO armature_schema (id, version, epoch) VALUES (1, 0, 0) ON CONFLICT (id) DO NOTHING")),
			)
		})
		d := s.diagnose(err)
		if d.class == duplicate || d.class == busy {
			d.class = again
		}
		return d.class, s.explain(err, nil, "")
	})
}
