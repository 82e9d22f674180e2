package store

import (
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"armature/core/fault"
)

// A full disk of PostgreSQL is what a full disk of the server is, and is over by
// itself.
func TestPostgresDiskFull(t *testing.T) {
	s := &Store{backend: &postgresBackend{}}
	if s.Full() {
		t.Error("it is full before anything was written")
	}
	f := fault.From(s.explain(&pgconn.PgError{Code: "53100", Message: "could not extend file"}, nil, ""))
	if f.Status() != http.StatusInsufficientStorage || f.ExcType() != fault.InsufficientStorage || !s.Full() {
		t.Errorf("%d %s, full %v", f.Status(), f.ExcType(), s.Full())
	}
	s.fullAt.Add(-int64(fullFor))
	if s.Full() {
		t.Error("it is full for ever")
	}
}
