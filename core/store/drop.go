package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/uptrace/bun"
)

// Drop deletes the database that Open would open, for good: the file, or the
// schema with everything in it. What is not there is no error. The store must
// be closed, in every process.
func Drop(ctx context.Context, url, schema string) error {
	if isPostgres(url) {
		return dropSchema(ctx, url, schema)
	}
	var failed error
	for _, name := range []string{url, url + "-wal", url + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func dropSchema(ctx context.Context, dsn, schema string) error {
	if schema == "" || schema == defaultSchema {
		return fmt.Errorf("drop PostgreSQL schema %q: it may hold what is not ours", schema)
	}
	return withPostgres(ctx, dsn, func(db bun.IDB) error {
		_, err := db.NewRaw("DROP SCHEMA IF EXISTS ? CASCADE", bun.Name(schema)).Exec(ctx)
		return err
	})
}
