package file

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// trashTime is how the key of trashed bytes says since when they are there, in UTC:
// storages differ in whether moving keeps the time.
const trashTime = "20060102t150405z"

// trashKey is the key in the trash of bytes that have another.
func trashKey(key string, now time.Time) string {
	return trash + now.UTC().Format(trashTime) + "." + strings.ReplaceAll(strings.TrimPrefix(key, blobs), "/", ".")
}

// trashed reads a key of the trash; ok is false for what somebody else put there.
func trashed(key string) (original string, since time.Time, ok bool) {
	at, rest, found := strings.Cut(strings.TrimPrefix(key, trash), ".")
	folder, name, whole := strings.Cut(rest, ".")
	since, err := time.Parse(trashTime, at)
	return blobs + folder + "/" + name, since, found && whole && err == nil
}

// bringBack moves bytes out of the trash that a File refers to: the database may be
// one that was away, or a copy from before.
func (s *Service) bringBack(ctx context.Context) error {
	from := map[string]string{} // by the key they had
	err := s.storage.List(ctx, trash, func(o Object) error {
		if original, _, ok := trashed(o.Key); ok {
			from[original] = o.Key
		}
		return nil
	})
	if err != nil {
		return err
	}
	keys := make([]string, 0, len(from))
	for key := range from {
		keys = append(keys, key)
	}
	for batch := range slices.Chunk(keys, keyBatch) {
		free, err := s.unnamed(ctx, batch)
		if err != nil {
			return err
		}
		for _, key := range batch {
			if slices.Contains(free, key) {
				continue
			}
			s.log.Warn("bring bytes back from the trash that a File refers to", "key", key)
			if err := s.storage.Move(ctx, from[key], key); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// emptyTrash deletes what has been in the trash for long.
func (s *Service) emptyTrash(ctx context.Context) error {
	return s.storage.List(ctx, trash, func(o Object) error {
		_, since, ok := trashed(o.Key)
		if !ok || s.now().Sub(since) < trashedFor {
			return nil
		}
		s.log.Info("delete bytes that no File has referred to for a week", "key", o.Key)
		return s.storage.Delete(ctx, o.Key)
	})
}
