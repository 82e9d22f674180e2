package store

import (
	"context"
	"log/slog"
	"time"
)

// checkpointEvery is how often a site that was written to has its log moved
// into the file, beyond what SQLite does itself while committing.
const checkpointEvery = 30 * time.Second

// checkpoints keeps the write-ahead log small: SQLite's own checkpoints give
// way to readers, and a file at rest should hold its data itself.
func (b *sqliteBackend) checkpoints(ctx context.Context, o Options) {
	defer close(b.gone)
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	var last uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		seen, err := b.writer.checkpoint(ctx, last)
		if err != nil {
			o.Logger.Warn("checkpoint failed", slog.Any("error", err))
		}
		last = seen
	}
}

// checkpoint moves the log into the file if there was a write since the given
// number of them.
func (w *writer) checkpoint(ctx context.Context, last uint64) (uint64, error) {
	if err := w.acquire(&job{ctx: ctx}); err != nil {
		return last, nil // busy: SQLite's own checkpoints must do
	}
	defer w.release("")
	if w.writes == last {
		return last, nil
	}
	rows, err := w.conn.QueryContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	if err != nil {
		return last, err
	}
	for rows.Next() { // to the end, or the checkpoint does not finish
	}
	if err := rows.Err(); err != nil {
		return last, err
	}
	return w.writes, rows.Close()
}
