package file

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// alive is how long after its last sweep a database is still taken for one that
// is in use.
const alive = 48 * time.Hour

// maxNoted is how many orphans are noted at a time; the rest is for later sweeps.
const maxNoted = 100_000

// ledger is what the sweeps of one database have seen in a storage. It is kept
// there: what another database has seen says nothing about this one, and a start
// of the server begins nothing anew.
type ledger struct {
	Seen    time.Time            `json:"first_seen"` // this database, here
	Swept   time.Time            `json:"swept"`
	Orphans map[string]time.Time `json:"orphans"` // since when no File refers to them, by key
}

func (s *Service) ledgerKey() string { return ledgers + s.identity + ".json" }

// readLedger reads the ledger of this database, which is new where there is none
// or none that can be read: then everything takes a day longer. rival is when
// another database swept here that is still in use; zero: none.
func (s *Service) readLedger(ctx context.Context) (own *ledger, rival time.Time, err error) {
	own = &ledger{}
	err = s.storage.List(ctx, ledgers, func(o Object) error {
		l, err := s.ledgerAt(ctx, o.Key)
		switch {
		case err != nil:
			return err
		case o.Key == s.ledgerKey():
			own = l
		case s.now().Sub(l.Swept).Abs() < alive:
			rival = l.Swept
		}
		return nil
	})
	return own, rival, err
}

func (s *Service) ledgerAt(ctx context.Context, key string) (*ledger, error) {
	l := &ledger{}
	r, err := s.storage.Open(ctx, key, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, l); err != nil {
		s.log.Warn("what was noted of orphaned files is damaged, and is begun anew", "key", key, "error", err)
		return &ledger{}, nil
	}
	return l, nil
}

// fresh reports whether the database was first seen here less than a day ago.
func (l *ledger) fresh(now time.Time) bool { return now.Sub(l.Seen) < orphanedFor }

// note takes over what a sweep has found, and returns the orphans that were some a
// day ago, which are not noted any more.
func (l *ledger) note(orphans []string, now time.Time) (ripe []string) {
	if l.Seen.IsZero() || l.Seen.After(now) {
		l.Seen = now
	}
	next := make(map[string]time.Time, min(len(orphans), maxNoted))
	for _, key := range orphans {
		since, noted := l.Orphans[key]
		if !noted || since.After(now) {
			since = now
		}
		switch {
		case !l.fresh(now) && now.Sub(since) >= orphanedFor:
			ripe = append(ripe, key)
		case len(next) < maxNoted:
			next[key] = since
		}
	}
	l.Orphans, l.Swept = next, now
	return ripe
}

func (s *Service) writeLedger(ctx context.Context, l *ledger) error {
	text, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return err
	}
	spool, err := os.CreateTemp(s.spool, "sweep-*")
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name()) // a storage may have moved it away
	_, err = spool.Write(append(text, '\n'))
	if err = errors.Join(err, spool.Close()); err != nil {
		return err
	}
	return s.storage.Put(ctx, s.ledgerKey(), spool.Name())
}
