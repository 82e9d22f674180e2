package store

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A closed store touches its files no more: not even by a connection that was
// being opened at that moment for a call that then got another.
func TestClosedStoreLeavesFilesAlone(t *testing.T) {
	for range 40 {
		dir := t.TempDir()
		path := filepath.Join(dir, "site.db")
		s, err := OpenSQLite(t.Context(), path, Options{MaxConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 32 {
			readers.Go(func() {
				for range 4 {
					if _, err := s.Versions(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		readers.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Fatalf("after closing there are %v, %v", left, err)
		}
		if open := s.backend.(*sqliteBackend).pool.Stats().Idle; open != 0 {
			t.Fatalf("%d connections are kept", open)
		}
	}
}

// A connection that is asked for before closing and opened after it is refused,
// and closing waits for those that were being opened.
func TestPoolWaitsForItsConnections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := openSQLitePool(sqliteDSN(path, readWait))
	if err != nil {
		t.Fatal(err)
	}
	late, err := p.connections.Connect(t.Context()) // in the hands of the pool's goroutine
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	for open := true; open; { // until the pool refuses
		c, err := p.connections.Connect(context.Background())
		if open = err == nil; open {
			_ = c.Close()
		}
	}
	select {
	case <-closed:
		t.Fatal("closed while a connection was open")
	default:
	}
	if err := late.Close(); err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A file that was removed is not made again by who still has it open.
func TestRemovedFileStaysRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	s, err := OpenSQLite(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.backend.(*sqliteBackend).pool.SetMaxIdleConns(-1) // what was opened before still has the removed file
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if _, err := s.Versions(t.Context()); err == nil {
		t.Error("a site without its database answers")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is back: %v", err)
	}
}
