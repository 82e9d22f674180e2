package store

import (
	"context"
	"errors"
)

// OpenPostgres opens a schema of a PostgreSQL database.
func OpenPostgres(ctx context.Context, dsn, schema string, o Options) (*Store, error) {
	return nil, errors.New("store: not yet")
}
