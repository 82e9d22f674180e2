package migration

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// Database is that of one site on its way to a binary's format.
type Database struct {
	Store document.Store
	Plan  Plan
	Log   *slog.Logger

	// Seal returns the text under which the site's key is to be kept: of a key
	// that is there, or with "" of a new one. A text that is right is returned as
	// it is.
	Seal func(sealed string) (string, error)

	// Lost, unless nil, is what to answer where the database is empty: this site had
	// one, and must not begin anew.
	Lost error

	// Stale is how long a process that migrates may give no sign of life before
	// another takes over; 0: DefaultStale.
	Stale time.Duration

	from     int64 // the format that Bring found
	withheld []string
}

// Withheld are the shipped DocTypes that Bring has left out, because the site has its
// own under these names.
func (s *Database) Withheld() []string { return s.withheld }

// From is the format in which Bring has found the site; 0: from before formats had
// numbers, or new.
func (s *Database) From() int64 { return s.from }

// leave is how long the end of a lease may take; afterwards it has to grow stale.
const leave = 5 * time.Second

// DefaultStale is longer than any step takes.
const DefaultStale = 15 * time.Second

// ErrNewer says that a site can only be used by newer binaries. Nothing of it was
// changed.
var ErrNewer = errors.New("the site was brought to a newer format")

// Current reports whether a site of this state needs nothing to be used, which is
// so for a site of a higher format as well; ErrNewer where it may not be used.
func (s *Database) Current(state State) (bool, error) {
	format := s.Plan.Format()
	if state.Reader > format {
		return false, fault.Wrap(fault.Unavailable, "SiteNewerError", ErrNewer,
			"The data of this site has format %d and can be used by programs of format %d and later; this program has format %d. Start a newer one",
			state.Format, state.Reader, format)
	}
	if state.Format != format {
		return state.Format > format, nil
	}
	version, err := s.Plan.Shipped.Version()
	return state.Installed == version, err
}

// Bring brings the site to the binary's format, or waits for who does, and returns
// its state and its schema. Where nothing is to be done it only reads.
func (s *Database) Bring(ctx context.Context) (State, *doctype.Schema, error) {
	state, err := Read(ctx, s.Store)
	if err == nil {
		if ok, err := s.Current(state); err != nil {
			return state, nil, err
		} else if ok {
			return s.load(ctx, state)
		}
	} else if fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil {
		return state, nil, err
	}
	// Any other error is that of a new database, or of one from before formats had numbers.
	if err := s.begin(ctx); err != nil {
		return state, nil, err
	}
	l := &lease{store: s.Store, stale: s.Stale}
	if l.stale == 0 {
		l.stale = DefaultStale
	}
	if err := l.take(ctx); err != nil {
		return state, nil, err
	}
	state, schema, err := s.run(ctx, l)
	// Who was cancelled lets the next one in all the same.
	return state, schema, errors.Join(err, s.give(context.WithoutCancel(ctx), l))
}

func (s *Database) give(ctx context.Context, l *lease) error {
	ctx, cancel := context.WithTimeout(ctx, leave)
	defer cancel()
	if err := l.give(ctx); err != nil && !errors.Is(err, errLost) {
		return fmt.Errorf("end the lease of the migration: %w", err)
	}
	return nil
}

func (s *Database) load(ctx context.Context, state State) (State, *doctype.Schema, error) {
	s.from = state.Format
	schema, err := s.Plan.Shipped.Load(ctx)
	return state, schema, err
}

// begin makes the tables that hold state and journal, and the state of a new site.
func (s *Database) begin(ctx context.Context) error {
	err := s.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		for _, dt := range Tables() {
			if err := tx.Migrate(ctx, dt); err != nil {
				return fmt.Errorf("table %s: %w", dt.Table, err)
			}
		}
		doc, err := tx.Get(ctx, schema(), tables().state, stateName, true)
		if ok, err := found(err); err != nil {
			return err
		} else if ok {
			if _, err = s.Seal(doc.Text("sealed")); err != nil || doc.Text("origin") != "" {
				return err
			}
			identity := cmp.Or(doc.Text("identity"), rand.Text())
			_, err = tx.UpdateIf(ctx, tables().state, stateName, nil, map[string]any{"identity": identity, "origin": identity})
			return err
		}
		if s.Lost != nil {
			return s.Lost
		}
		sealed, err := s.Seal("")
		if err != nil {
			return err
		}
		return tx.Insert(ctx, newState(State{Sealed: sealed}))
	})
	if err != nil && !errors.Is(err, s.Lost) {
		return fmt.Errorf("key of the site: %w", err)
	}
	return err
}

// run does what is still to be done; who held the lease before may have done it.
func (s *Database) run(ctx context.Context, l *lease) (State, *doctype.Schema, error) {
	state, err := Read(ctx, s.Store)
	if err != nil {
		return state, nil, err
	}
	if ok, err := s.Current(state); err != nil {
		return state, nil, err
	} else if ok {
		return s.load(ctx, state)
	}
	from := state.Format
	s.from = from
	schema, withheld, err := s.install(ctx, l)
	if err != nil {
		return state, nil, err
	}
	s.withheld = withheld
	for _, m := range s.Plan.after(from) {
		if err := s.migrate(ctx, l, m, schema); err != nil {
			return state, nil, fmt.Errorf("migration %d (%s): %w", m.Number, m.Title, err)
		}
		if s.Log != nil && from > 0 {
			s.Log.Info("the site was brought to a newer format", "format", m.Number, "migration", m.Title)
		}
	}
	if err := s.finish(ctx, l, withheld); err != nil {
		return state, nil, err
	}
	state, err = Read(ctx, s.Store)
	return state, schema, err
}

// install brings tables, DocTypes and records to what this binary ships.
func (s *Database) install(ctx context.Context, l *lease) (*doctype.Schema, []string, error) {
	err := l.write(ctx, func(tx document.Tx) error {
		for _, dt := range s.Plan.Shipped.Tables() {
			if err := tx.Migrate(ctx, dt); err != nil {
				return fmt.Errorf("table %s: %w", dt.Table, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return s.Plan.Shipped.Install(ctx, l.write)
}

// migrate runs what is left of a migration's steps.
func (s *Database) migrate(ctx context.Context, l *lease, m Migration, schema *doctype.Schema) error {
	for _, step := range m.Steps {
		if err := s.step(ctx, l, m, step, schema); err != nil {
			return fmt.Errorf("step %s: %w", step.Name, err)
		}
	}
	return l.write(ctx, func(tx document.Tx) error {
		if _, err := tx.UpdateIf(ctx, tables().state, stateName, nil, map[string]any{"format": m.Number, "reader": m.Reader}); err != nil {
			return err
		}
		_, err := tx.BumpSchema(ctx) // who uses the site finds out whether it still may
		return err
	})
}

// step runs one step to its end, from where the journal says it is.
func (s *Database) step(ctx context.Context, l *lease, m Migration, step Step, schema *doctype.Schema) error {
	for done := false; !done; {
		err := l.write(ctx, func(tx document.Tx) (err error) {
			at, err := readEntry(ctx, tx, m, step)
			if err != nil || at.done {
				done = at.done
				return err
			}
			next, err := step.Run(ctx, World{Tx: tx, Schema: schema}, at.cursor)
			if err != nil {
				return err
			}
			done = next == ""
			return at.write(ctx, tx, next)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish notes what was installed, unless not all of it was, and seals the key as sites of this format have it.
func (s *Database) finish(ctx context.Context, l *lease, withheld []string) error {
	version, err := s.Plan.Shipped.Version()
	if err != nil {
		return err
	}
	if len(withheld) > 0 {
		version = ""
	}
	return l.write(ctx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, schema(), tables().state, stateName, false)
		if err != nil {
			return err
		}
		sealed, err := s.Seal(doc.Text("sealed"))
		if err != nil {
			return err
		}
		_, err = tx.UpdateIf(ctx, tables().state, stateName, nil, map[string]any{"sealed": sealed, "installed": version})
		return err
	})
}
