package pump

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/store"
)

// servers are the processes that share a queue. Each counts up; one that has stood still
// for a while by the clock of another is dead, and the tickets that it ran are taken
// away, so that they are handed over again. A process that was only slow then runs a job
// that another one runs too: what one of them writes is kept.
type servers struct {
	store  document.Store
	pool   *store.QueuePool
	schema string
	id     string
	still  time.Duration

	beat int64
	seen map[string]sighting
}

type sighting struct {
	beat int64
	at   time.Time
}

// How often a process counts up, and how long one stands still that is dead.
const (
	beatEvery  = time.Second
	stillAfter = 8 * time.Second
)

// enter makes the process known. What a file has of tickets is of a process before this
// one: there is one server for a file.
func (s *servers) enter(ctx context.Context) error {
	if s.pool.SQLite != nil {
		_, err := s.pool.Exec(ctx, "DELETE FROM river_job")
		return err
	}
	return s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		return tx.Insert(ctx, row(own().server, s.id, time.Now(), map[string]any{"beat": int64(0)}))
	})
}

// leave takes the process away.
func (s *servers) leave(ctx context.Context) error {
	if s.pool.SQLite != nil {
		return nil
	}
	return s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		_, err := tx.Delete(ctx, schema(), own().server, s.id)
		return err
	})
}

// round counts up, and takes away what the dead have left.
func (s *servers) round(ctx context.Context) error {
	if s.pool.SQLite != nil {
		return nil
	}
	s.beat++
	err := s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		ok, err := tx.UpdateIf(ctx, own().server, s.id, map[string]any{}, map[string]any{"beat": s.beat})
		if err == nil && !ok { // another process took this one for dead
			err = tx.Insert(ctx, row(own().server, s.id, time.Now(), map[string]any{"beat": s.beat}))
		}
		return err
	})
	if err != nil {
		return err
	}
	alive, dead, err := s.look(ctx)
	if err != nil {
		return err
	}
	// Tickets of processes that are in the table no more are those of the dead too.
	statement := "DELETE FROM " + pgx.Identifier{s.schema, "river_job"}.Sanitize() +
		" WHERE state IN ('running', 'retryable') AND NOT (attempted_by[array_upper(attempted_by, 1)] = ANY($1))"
	if _, err := s.pool.Exec(ctx, statement, alive); err != nil {
		return err
	}
	return s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		for _, id := range dead {
			if _, err := tx.Delete(ctx, schema(), own().server, id); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
		return nil
	})
}

// look tells the processes apart.
func (s *servers) look(ctx context.Context) (alive, dead []string, err error) {
	now := time.Now()
	present := map[string]int64{}
	sel := &doctype.Select{DocType: own().server, Columns: columns(own().server, "name", "beat")}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		clear(present)
		return tx.Rows(ctx, sel, func(v []any) error {
			id, _ := v[0].(string)
			present[id], _ = v[1].(int64)
			return nil
		})
	})
	if err != nil {
		return nil, nil, err
	}
	next := make(map[string]sighting, len(present))
	for id, beat := range present {
		last, known := s.seen[id]
		if !known || last.beat != beat {
			last = sighting{beat, now}
		}
		next[id] = last
		if id == s.id || now.Sub(last.at) < s.still {
			alive = append(alive, id)
		} else {
			dead = append(dead, id)
		}
	}
	s.seen = next
	return alive, dead, nil
}
