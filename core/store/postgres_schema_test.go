package store_test

import (
	"errors"
	"sync"
	"testing"

	"armature/core/document"
)

// Who keeps the DocTypes sees those that are committed when it asks, and no change
// of them is committed until it has ended: neither one that it overtook nor one
// that was under way.
func TestPostgresKeepsSchema(t *testing.T) {
	dsn := postgresURL(t)
	schema := newSchema(t, dsn)
	here, there := openSchema(t, dsn, schema), openSchema(t, dsn, schema)
	before, err := here.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	watch := connect(t, dsn, schema)
	kept, bumped := make(chan struct{}), make(chan struct{})
	begun := sync.OnceFunc(func() { close(bumped) })
	changed := make(chan error, 1)
	go func() {
		changed <- there.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			_, err := tx.BumpSchema(t.Context())
			begun()
			<-kept
			return err
		})
	}()
	<-bumped
	err = here.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
		v, err := tx.KeepSchema(t.Context()) // a change under way is not waited for
		if err != nil {
			return err
		}
		if v != before.Schema {
			t.Errorf("it finds version %d, want %d", v, before.Schema)
		}
		close(kept)
		for waiting := 0; waiting == 0; { // the change cannot end
			const others = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%armature_settled SET%' AND datname = current_database()"
			if err := watch.QueryRow(t.Context(), others).Scan(&waiting); err != nil {
				return err
			}
			select {
			case err := <-changed:
				return errors.Join(err, errors.New("the change was committed meanwhile"))
			default:
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-changed; err != nil {
		t.Fatal(err)
	}
	err = here.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
		v, err := tx.KeepSchema(t.Context())
		if v != before.Schema+1 {
			t.Errorf("it finds version %d, want %d", v, before.Schema+1)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
