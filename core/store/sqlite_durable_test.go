package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/store"
)

var note = doctype.NewDocType(doctype.DocType{Name: "Note", Table: "tabNote"}, []*doctype.Field{
	{Name: "text", Label: "Text", Type: "Data", Kind: doctype.Text, Column: "text"},
})

func newNote(name, text string) *doctype.Document {
	d := doctype.NewDocument(note)
	d.Put("name", name)
	d.Put("text", text)
	d.Put("creation", "2024-01-01 00:00:00.000000")
	d.Put("modified", "2024-01-01 00:00:00.000000")
	return d
}

func migrateNotes(t testing.TB, s document.Store) {
	t.Helper()
	if err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), note) }); err != nil {
		t.Fatal(err)
	}
}

func insertNote(t testing.TB, s document.Store, name, text string) error {
	return s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error { return tx.Insert(t.Context(), newNote(name, text)) })
}

// The log stays small: every statement is read to its end, also those that
// return a number.
func TestSQLiteLogStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	s, err := store.OpenSQLite(t.Context(), path, store.Options{Durability: store.Crash})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	migrateNotes(t, s)
	if err := insertNote(t, s, "n", ""); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 1500 {
				err := s.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
					if _, err := tx.Next(t.Context(), "n"); err != nil {
						return err
					}
					d := newNote("n", strings.Repeat(fmt.Sprint(w, i), 100))
					_, err := tx.Update(t.Context(), nil, d, []*doctype.Field{note.Field("text")}, nil, "")
					return err
				})
				if err == nil {
					err = s.Read(t.Context(), func(tx document.Tx) error {
						_, err := tx.Get(t.Context(), nil, note, "n", false)
						return err
					})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	log, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if log.Size() > 16<<20 {
		t.Errorf("the log has %d MB", log.Size()>>20)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("closed, and the log is still there: %v", err)
	}
}

// TestSQLiteKilled starts this binary as a process that writes from 16
// goroutines and prints each name once its write is acknowledged, kills it, and
// looks for the names.
func TestSQLiteKilled(t *testing.T) {
	if path := os.Getenv("ARMATURE_TEST_KILLED"); path != "" {
		writeForever(t, path)
		return
	}
	for range 3 {
		path := filepath.Join(t.TempDir(), "site.db")
		child := exec.Command(os.Args[0], "-test.run=^TestSQLiteKilled$")
		child.Env = append(os.Environ(), "ARMATURE_TEST_KILLED="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		var names []string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "stored "); ok {
				names = append(names, name)
			}
			if len(names) == 500 {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait() // killed
		if len(names) < 500 {
			t.Fatalf("the process ended after %d writes", len(names))
		}
		s := openFile(t, path)
		err = s.Read(t.Context(), func(tx document.Tx) error {
			absent, err := tx.Absent(t.Context(), note, names)
			if len(absent) > 0 {
				t.Errorf("%d of %d acknowledged writes are lost", len(absent), len(names))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func writeForever(t *testing.T, path string) {
	s := openFile(t, path)
	migrateNotes(t, s)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("n%d-%d", w, i)
				if err := insertNote(t, s, name, "x"); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				fmt.Println("stored " + name) // one write call: lines do not mix
			}
		})
	}
	wg.Wait()
}

// Two stores on one file, as the server and a command have them.
func TestSQLiteTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	a, b := openFile(t, path), openFile(t, path)
	migrateNotes(t, a)
	var wg sync.WaitGroup
	for i, s := range []*store.Store{a, b, a, b} {
		wg.Go(func() {
			for n := range 50 {
				if err := insertNote(t, s, fmt.Sprintf("%d-%d", i, n), ""); err != nil {
					t.Errorf("store %d: %v", i%2, err)
					return
				}
			}
		})
	}
	wg.Wait()
	sel := &doctype.Select{DocType: note}
	for _, s := range []*store.Store{a, b} {
		err := s.Read(t.Context(), func(tx document.Tx) error {
			n, err := tx.Count(t.Context(), sel)
			if n != 200 {
				t.Errorf("%d notes, want 200", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A write that waits too long for its turn fails clearly, and leaves the queue.
func TestSQLiteWriteWait(t *testing.T) {
	s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "site.db"), store.Options{WriteWait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	migrateNotes(t, s)
	err = s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		if err := tx.Insert(t.Context(), newNote("held", "")); err != nil {
			return err
		}
		late := make(chan error)
		go func() { late <- insertNote(t, s, "late", "") }()
		if err := <-late; fault.KindOf(err) != fault.Unavailable {
			t.Errorf("waited for 20 ms: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := insertNote(t, s, "next", ""); err != nil {
		t.Error(err)
	}
}

func TestSQLiteCannotOpen(t *testing.T) {
	if _, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "no", "such", "folder.db"), store.Options{}); err == nil {
		t.Error("opened a file in a folder that is not there")
	}
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenSQLite(t.Context(), path, store.Options{}); err == nil {
		t.Error("opened a text file")
	}
}
