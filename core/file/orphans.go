package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// How long bytes are nobody's before they go to the trash, and how long they lie
// there. Both are measured from one sweep to another, by times that are stored.
const (
	orphanedFor = 24 * time.Hour
	trashedFor  = 7 * 24 * time.Hour
)

// keyBatch is how many keys one query asks for.
const keyBatch = 50

// suspicious is how many more bytes may be nobody's than somebody's.
const suspicious = 100

// sweepBlobs moves the bytes that no File refers to into the trash, and deletes
// what has been there for long. Crashes leave few of them: where most are nobody's,
// or another database has its files here as well, the database is not the one
// these files belong to, and nothing is touched.
func (s *Service) sweepBlobs(ctx context.Context) error {
	if s.identity == "" {
		return nil
	}
	if err := s.sweepOrphans(ctx); err != nil {
		return fmt.Errorf("sweep the file storage: %w", err)
	}
	return nil
}

func (s *Service) sweepOrphans(ctx context.Context) error {
	if err := s.bringBack(ctx); err != nil {
		return err
	}
	l, rival, err := s.readLedger(ctx)
	if err != nil {
		return err
	}
	if !rival.IsZero() {
		l.note(nil, s.now()) // for the other one to see
		return errors.Join(s.writeLedger(ctx, l), fmt.Errorf("another database had its files here at %s; nothing is touched until one of the two has been away for two days",
			rival.UTC().Format(time.RFC3339)))
	}
	orphans, named, err := s.orphans(ctx, s.now().Add(-abandoned))
	switch {
	case err != nil:
		return err
	case len(orphans) > named+suspicious:
		return fmt.Errorf("of %d files %d are nobody's: do they belong to another database?", named+len(orphans), len(orphans))
	}
	ripe := l.note(orphans, s.now())
	for _, key := range ripe {
		s.log.Info("move bytes that no File refers to into the trash", "key", key)
		if err := s.storage.Move(ctx, key, trashKey(key, s.now())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := s.writeLedger(ctx, l); err != nil {
		return err
	}
	if l.fresh(s.now()) {
		return nil
	}
	return s.emptyTrash(ctx)
}

// orphans lists the keys of bytes stored before a time that no File refers to, and
// counts the others.
func (s *Service) orphans(ctx context.Context, before time.Time) (orphans []string, named int, err error) {
	var batch []string
	ask := func() error {
		free, err := s.unnamed(ctx, batch)
		named += len(batch) - len(free)
		orphans, batch = append(orphans, free...), nil
		return err
	}
	err = s.storage.List(ctx, blobs, func(o Object) error {
		if o.Modified.After(before) {
			return nil
		}
		if batch = append(batch, o.Key); len(batch) < keyBatch {
			return nil
		}
		return ask()
	})
	if err == nil {
		err = ask()
	}
	return orphans, named, err
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
