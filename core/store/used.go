package store

import (
	"context"
	"fmt"
)

// UsedBytes is how much of the site's database is in use: of a SQLite file the pages
// that are not free, in PostgreSQL about what the tables of the schema and their
// indexes would take without the room that deleting has left inside of them. That is
// known once the server has vacuumed them, which it does by itself within a minute
// or so of a large deletion.
func (s *Store) UsedBytes(ctx context.Context) (n int64, err error) {
	if err := s.gate.enter(); err != nil {
		return 0, err
	}
	defer s.gate.leave()
	st := &statement{text: s.engine.usedBytes, cells: []cell{{}}, fleeting: true}
	err = s.query(ctx, s.backend.reader(), st, nil, func(row []any) error {
		var ok bool
		if n, ok = row[0].(int64); !ok {
			return fmt.Errorf("store: the size of the database is a %T", row[0])
		}
		return nil
	})
	return n, s.explain(err, nil, "")
}

// The statements of UsedBytes. In PostgreSQL a table has as many rows as the latest
// count or vacuum says, whichever is more, each as wide as the statistics of its
// columns, with a quarter for what pages cannot use; one that has no statistics
// yet takes all it has. Long values lie in chunks of 2 KB in a table of their own.
// Indexes have room left as their table has.
const (
	usedSQLite = `SELECT (p.page_count - f.freelist_count) * s.page_size
		FROM pragma_page_count() p, pragma_freelist_count() f, pragma_page_size() s`
	usedPostgres = `WITH widths AS (
			SELECT tablename, sum(avg_width * (1 - null_frac)) + 28 AS row FROM pg_stats WHERE schemaname = current_schema() GROUP BY tablename
		), tables AS (
			SELECT pg_relation_size(c.oid)::float8 AS heap, pg_indexes_size(c.oid)::float8 AS indexes,
				CASE WHEN c.reltoastrelid = 0 THEN 0 ELSE pg_total_relation_size(c.reltoastrelid) END::float8 AS chunks,
				65536 + 1.25 * w.row * greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) AS live,
				65536 + 2100.0 * greatest(t.reltuples, pg_stat_get_live_tuples(t.oid)) AS chunked
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
				LEFT JOIN pg_class t ON t.oid = c.reltoastrelid LEFT JOIN widths w ON w.tablename = c.relname
			WHERE n.nspname = current_schema() AND c.relkind = 'r'
		)
		SELECT coalesce(sum(least(heap, live) + least(chunks, CASE WHEN live IS NULL THEN chunks ELSE chunked END)
			+ indexes * CASE WHEN heap > 0 THEN least(heap, live) / heap ELSE 1 END), 0)::bigint FROM tables`
)
