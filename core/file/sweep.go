package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// abandoned is how old bytes are that no File names before they are taken for
// left behind: an upload that is still running has its bytes stored for a
// moment before its document.
const abandoned = time.Hour

// sweepBatch is how many keys one query asks for.
const sweepBatch = 50

// suspicious is how many more bytes may be nobody's than somebody's.
const suspicious = 100

// Sweep removes what crashes and lost connections have left: spooled files,
// bytes that no File refers to, chunks of uploads that nobody finished. It may
// run beside everything else and in several processes.
func (s *Service) Sweep(ctx context.Context) error {
	return errors.Join(s.sweepSpool(), s.sweepBlobs(ctx), s.sweepParts(ctx))
}

func (s *Service) sweepSpool() error { return SweepSpool(s.spool, s.now()) }

// SweepSpool removes what was broken off on its way into a spool, which may be
// missing. It needs no open site: each machine has a spool of its own.
func SweepSpool(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sweep the spool: %w", err)
	}
	var failed []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < abandoned {
			continue // gone, or still being written
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// sweepBlobs removes the bytes that no File refers to. Crashes leave few of
// them: where most are nobody's, the database is not the one these files belong
// to, and nothing is touched.
func (s *Service) sweepBlobs(ctx context.Context) error {
	var batch, unnamed []string
	named := 0
	ask := func() error {
		free, err := s.unnamed(ctx, batch)
		named += len(batch) - len(free)
		unnamed, batch = append(unnamed, free...), nil
		return err
	}
	err := s.storage.List(ctx, blobs, func(o Object) error {
		if s.now().Sub(o.Modified) < abandoned {
			return nil
		}
		if batch = append(batch, o.Key); len(batch) < sweepBatch {
			return nil
		}
		return ask()
	})
	if err == nil {
		err = ask()
	}
	switch {
	case err != nil:
		return fmt.Errorf("sweep the file storage: %w", err)
	case len(unnamed) > named+suspicious:
		return fmt.Errorf("sweep the file storage: of %d files %d are nobody's: do they belong to another database?", named+len(unnamed), len(unnamed))
	}
	for _, key := range unnamed {
		s.log.Info("remove bytes that no File refers to", "key", key)
		if err := s.storage.Delete(ctx, key); err != nil {
			return fmt.Errorf("sweep the file storage: %w", err)
		}
	}
	return nil
}

// unnamed returns those of the keys that no File has.
func (s *Service) unnamed(ctx context.Context, keys []string) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	dt, err := s.doctype()
	if err != nil {
		return nil, err
	}
	named, values := make(map[any]bool), make([]any, len(keys))
	for i, key := range keys {
		values[i] = key
	}
	op := doctype.Operand{Field: dt.Field("storage_key")}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, &doctype.Select{
			DocType: dt, Columns: []doctype.Column{{Operand: op, Key: "storage_key"}},
			Where: doctype.Compare{Operand: op, Op: query.In, Value: values},
		}, func(row []any) error {
			named[row[0]] = true
			return nil
		})
	})
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return named[key] }), err
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
