package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"armature/core/fault"
)

// Ping asks whether the PostgreSQL database of a URL answers, on a connection
// of its own. The error is Unavailable.
func Ping(ctx context.Context, url string) error {
	config, err := postgresConfig(url, defaultSchema)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		err = errors.Join(conn.Ping(ctx), conn.Close(ctx))
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, "", fmt.Errorf("reach PostgreSQL: %w", err), "The database is not available; try again later")
	}
	return nil
}
