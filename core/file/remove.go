package file

import (
	"context"
	"time"

	"armature/core/document"
)

// removeAfter removes the bytes of a deleted File once the deletion is
// committed, if no other File refers to them. The transaction holds the lock, so
// nobody begins to share them meanwhile; and keys are used once, so nobody does
// later.
func (s *Service) removeAfter(ctx context.Context, tx document.Tx, key string) error {
	if key == "" {
		return nil
	}
	shared, err := s.exists(ctx, tx, match{"storage_key", key})
	if err != nil || shared {
		return err
	}
	tx.AfterCommit(func() { s.deleteBytes(key) })
	return nil
}

// housekeeping is how long the storage may take to forget bytes. It is not the
// request's time: the request may be over.
const housekeeping = 30 * time.Second

func (s *Service) deleteBytes(key string) {
	ctx, cancel := context.WithTimeout(context.Background(), housekeeping)
	defer cancel()
	if err := s.storage.Delete(ctx, key); err != nil {
		s.log.Warn("remove the bytes of a file; the sweep will try again", "key", key, "error", err)
	}
}

// discard removes bytes that were stored for a File which did not come to be.
// It asks the database once more: where that cannot answer, they wait for the
// sweep.
func (s *Service) discard(key string) {
	ctx, cancel := context.WithTimeout(context.Background(), housekeeping)
	defer cancel()
	used := true
	err := s.store.Read(ctx, func(tx document.Tx) (err error) {
		used, err = s.exists(ctx, tx, match{"storage_key", key})
		return err
	})
	if err != nil {
		s.log.Warn("look whether a file is used", "key", key, "error", err)
		return
	}
	if !used {
		s.deleteBytes(key)
	}
}
