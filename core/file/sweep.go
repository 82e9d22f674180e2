package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// abandoned is how old a spooled file is before it is taken for left behind: an
// upload that is still running has one.
const abandoned = time.Hour

// Sweep removes what crashes and lost connections have left: spooled files,
// bytes that no File refers to, chunks of uploads that nobody finished. It may
// run beside everything else; two at a time would only do the same twice.
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
