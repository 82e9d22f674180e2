package store_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/store"
)

// two opens a database twice, as two processes would.
func two(t *testing.T, run func(t *testing.T, one, other *store.Store)) {
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "site.db")
		run(t, openFile(t, path), openFile(t, path))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := postgresURL(t)
		schema := newSchema(t, url)
		run(t, openSchema(t, url, schema), openSchema(t, url, schema))
	})
}

func taskType() *doctype.DocType {
	return doctype.NewDocType(doctype.DocType{Name: "Task", Table: "d_task"}, []*doctype.Field{
		{Name: "state", Label: "State", Type: "Data", Kind: doctype.Text, Column: "state"},
	})
}

func task(dt *doctype.DocType, name string) *doctype.Document {
	d := doctype.NewDocument(dt)
	at := doctype.FormatDatetime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	d.Put("name", name)
	d.Put("creation", at)
	d.Put("modified", at)
	return d
}

// log is what a process has read of the log of changes.
type log struct {
	t  *testing.T
	s  *store.Store
	at document.Position
}

func (l *log) begin() {
	l.t.Helper()
	if err := l.s.Follow(l.t.Context(), time.Now().Add(time.Minute)); err != nil {
		l.t.Fatal(err)
	}
	l.at = ""
	l.next()
}

func (l *log) next() (names []string) {
	l.t.Helper()
	found, err := l.s.Changes(l.t.Context(), l.at)
	if err != nil {
		l.t.Fatal(err)
	}
	if !l.s.ValidPosition(found.Position) {
		l.t.Fatalf("the position %q is not taken back", found.Position)
	}
	l.at = found.Position
	for _, c := range found.List {
		names = append(names, c.DocType+"/"+c.Name+string(c.Data))
	}
	slices.Sort(names)
	return names
}

func (l *log) wants(names ...string) {
	l.t.Helper()
	if got := l.next(); !slices.Equal(got, names) {
		l.t.Errorf("the log has %v, want %v", got, names)
	}
}

func TestChanges(t *testing.T) {
	two(t, func(t *testing.T, one, other *store.Store) {
		ctx, dt := t.Context(), taskType()
		write := func(mode document.Mode, fn func(tx document.Tx) error) {
			t.Helper()
			if err := one.Write(ctx, mode, fn); err != nil {
				t.Fatal(err)
			}
		}
		write(document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, dt) })
		insert := func(name string) func(document.Tx) error {
			return func(tx document.Tx) error { return tx.Insert(ctx, task(dt, name)) }
		}
		write(document.OneWrite, insert("unseen"))
		here, there := &log{t: t, s: one}, &log{t: t, s: other}
		here.begin()
		there.begin()
		told := 0
		defer one.OnChange(func() { told++ })()

		write(document.OneWrite, insert("a"))
		write(document.GroupedTx, insert("b"))
		write(document.OwnTx, func(tx document.Tx) error {
			return errors.Join(insert("c")(tx), tx.Publish(ctx, document.Change{Name: "acme.x", Data: []byte(`{"n":1}`)}))
		})
		for _, l := range []*log{here, there} {
			l.wants("/acme.x"+`{"n":1}`, "Task/a", "Task/b", "Task/c")
			l.wants()
		}
		if told != 3 {
			t.Errorf("told %d times of three commits", told)
		}

		write(document.OwnTx, func(tx document.Tx) error {
			_ = tx.Savepoint(ctx, func() error {
				return errors.Join(insert("undone")(tx), tx.Publish(ctx, document.Change{Name: "undone"}), errors.New("no"))
			})
			return insert("kept")(tx)
		})
		write(document.OwnTx, func(tx document.Tx) error { return errors.Join(insert("rolled back")(tx), document.ErrRollback) })
		there.wants("Task/kept")

		write(document.OwnTx, func(tx document.Tx) error {
			_, err := tx.Delete(ctx, nil, dt, "a")
			if err == nil {
				_, err = tx.UpdateIf(ctx, dt, "b", nil, map[string]any{"state": "done"})
			}
			if err == nil {
				_, err = tx.Update(ctx, nil, task(dt, "c"), []*doctype.Field{dt.Field("state")}, nil, "")
			}
			return err
		})
		there.wants("Task/a", "Task/b", "Task/c")
		write(document.OwnTx, func(tx document.Tx) error {
			_, err := tx.Replace(ctx, dt, dt.Field("state"), nil, "new")
			return err
		})
		there.wants("Task/")
		if err := one.SweepChanges(ctx, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		write(document.OneWrite, insert("d"))
		there.wants("Task/d")
	})
}

// A process that does not know yet of who follows learns it before it commits what it
// begins a second later.
func TestChangesOfAnotherProcess(t *testing.T) {
	two(t, func(t *testing.T, one, other *store.Store) {
		ctx, dt := t.Context(), taskType()
		if err := other.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, dt) }); err != nil {
			t.Fatal(err)
		}
		l := &log{t: t, s: one}
		l.begin()
		time.Sleep(time.Second)
		if err := other.Write(ctx, document.OneWrite, func(tx document.Tx) error { return tx.Insert(ctx, task(dt, "a")) }); err != nil {
			t.Fatal(err)
		}
		l.wants("Task/a")
	})
}

// Who begins early and commits late is not skipped by who reads meanwhile.
func TestChangesInTheOrderOfCommits(t *testing.T) {
	url := postgresURL(t)
	s := openSchema(t, url, newSchema(t, url))
	ctx, dt := t.Context(), taskType()
	if err := s.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, dt) }); err != nil {
		t.Fatal(err)
	}
	l := &log{t: t, s: s}
	l.begin()
	begun, go_, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		done <- s.Write(ctx, document.OwnTx, func(tx document.Tx) error {
			err := tx.Insert(ctx, task(dt, "early"))
			if first {
				first = false
				close(begun)
				<-go_
			}
			return err
		})
	}()
	<-begun
	if err := s.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Insert(ctx, task(dt, "late")) }); err != nil {
		t.Fatal(err)
	}
	l.wants("Task/late")
	close(go_)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	l.wants("Task/early")
	l.wants()
}

func TestValidPosition(t *testing.T) {
	valid := func(s *store.Store, texts map[string]bool) {
		t.Helper()
		for text, want := range texts {
			if s.ValidPosition(document.Position(text)) != want {
				t.Errorf("%q: %v", text, !want)
			}
		}
	}
	valid(openFile(t, filepath.Join(t.TempDir(), "x.db")), map[string]bool{
		"0": true, "12": true, "": false, "1:2:": false, "-1": false, "9999999999999999999999": false, "1;DROP": false})
	url := postgresURL(t)
	valid(openSchema(t, url, newSchema(t, url)), map[string]bool{
		"10:20:10,14,15": true, "10:20:": true, "10:10:": true, "": false, "12": false, "20:10:": false, "10:20:20": false, "10:20:15,14": false,
		"10:20:9": false, "0:20:": false, "10:20:1'": false, "10:20:10,": false, "10:99999999999999999999:": false})
}

// A bell tells the other process; what was rung while nobody listened is not needed.
func TestBell(t *testing.T) {
	url := postgresURL(t)
	schema := newSchema(t, url)
	open := func() *store.Store {
		bell := store.NewBell(nil)
		t.Cleanup(bell.Close)
		s, err := store.Open(t.Context(), url, schema, store.Options{Bell: bell})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	one, other := open(), open()
	ctx, dt := t.Context(), taskType()
	if err := one.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, dt) }); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.Store{one, other} {
		if err := s.Follow(ctx, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	told := make(chan struct{}, 100)
	defer other.OnChange(func() { told <- struct{}{} })()
	for n := range 3 {
		heard := false
		for try := 0; !heard; try++ { // the first may come before the other process listens
			if try == 100 {
				t.Fatal("the other process is not told")
			}
			name := string(rune('a'+n)) + doctype.FormatDatetime(time.Now())
			if err := one.Write(ctx, document.OneWrite, func(tx document.Tx) error { return tx.Insert(ctx, task(dt, name)) }); err != nil {
				t.Fatal(err)
			}
			select {
			case <-told:
				heard = true
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
}
