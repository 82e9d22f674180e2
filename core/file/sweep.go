package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"armature/core/document"
	"armature/core/query"
)

// abandoned is how old bytes are that no File names before they are taken for
// left behind: an upload that is still running has its bytes stored for a
// moment before its document.
const abandoned = time.Hour

// sweepBatch is how many keys one query asks for.
const sweepBatch = 200

// Sweep removes what crashes and lost connections have left: spooled files,
// bytes that no File refers to, chunks of uploads that nobody finished. It may
// run beside everything else and in several processes.
func (s *Service) Sweep(ctx context.Context) error {
	return errors.Join(s.sweepSpool(), s.sweepBlobs(ctx), s.sweepParts(ctx))
}

func (s *Service) sweepSpool() error {
	entries, err := os.ReadDir(s.spool)
	if err != nil {
		return fmt.Errorf("sweep the spool: %w", err)
	}
	var failed []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || s.now().Sub(info.ModTime()) < abandoned {
			continue // gone, or still being written
		}
		if err := os.Remove(filepath.Join(s.spool, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (s *Service) sweepBlobs(ctx context.Context) error {
	var batch []any
	err := s.storage.List(ctx, blobs, func(o Object) error {
		if s.now().Sub(o.Modified) < abandoned {
			return nil
		}
		if batch = append(batch, o.Key); len(batch) < sweepBatch {
			return nil
		}
		full := batch
		batch = nil
		return s.removeUnnamed(ctx, full)
	})
	if err == nil {
		err = s.removeUnnamed(ctx, batch)
	}
	if err != nil {
		return fmt.Errorf("sweep the file storage: %w", err)
	}
	return nil
}

// removeUnnamed removes those of the keys that no File has.
func (s *Service) removeUnnamed(ctx context.Context, keys []any) error {
	if len(keys) == 0 {
		return nil
	}
	dt, err := s.doctype()
	if err != nil {
		return err
	}
	named := make(map[any]bool)
	op := document.Operand{Field: dt.Field("storage_key")}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, &document.Select{
			DocType: dt, Columns: []document.Column{{Operand: op, Key: "storage_key"}},
			Where: document.Compare{Operand: op, Op: query.In, Value: keys},
		}, func(values []any) error {
			named[values[0]] = true
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		if named[key] {
			continue
		}
		s.log.Info("remove bytes that no File refers to", "key", key)
		if err := s.storage.Delete(ctx, key.(string)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) sweepParts(ctx context.Context) error {
	err := s.storage.List(ctx, parts, func(o Object) error {
		if s.now().Sub(o.Modified) < chunkLife {
			return nil
		}
		return s.storage.Delete(ctx, o.Key)
	})
	if err != nil {
		return fmt.Errorf("sweep chunks: %w", err)
	}
	return nil
}
