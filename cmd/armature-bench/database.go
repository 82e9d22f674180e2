package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/url"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// databases are two empty PostgreSQL databases, one for each server.
type databases struct {
	db         *sql.DB
	names      []string
	ours, bare string // URLs
}

func newDatabases(ctx context.Context, server string) (*databases, error) {
	db, err := sql.Open("pgx", server)
	if err != nil {
		return nil, err
	}
	d := &databases{db: db}
	suffix := strings.ToLower(rand.Text()[:10])
	for _, to := range []*string{&d.ours, &d.bare} {
		name := "armature_bench_" + []string{"ours_", "bare_"}[len(d.names)] + suffix
		if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
			return nil, errors.Join(err, d.drop())
		}
		d.names = append(d.names, name)
		u, err := url.Parse(server)
		if err != nil {
			return nil, errors.Join(err, d.drop())
		}
		u.Path = "/" + name
		*to = u.String()
	}
	return d, nil
}

// analyze has both databases look at their tables, as they would by themselves
// within a minute: without statistics the planner guesses, and a benchmark of
// seconds would measure the guess.
func (d *databases) analyze(ctx context.Context) error {
	for _, database := range []string{d.ours, d.bare} {
		db, err := sql.Open("pgx", database)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, "ANALYZE")
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (d *databases) drop() error {
	var errs []error
	for _, name := range d.names {
		_, err := d.db.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, d.db.Close())...)
}
