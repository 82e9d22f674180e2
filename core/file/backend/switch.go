package backend

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"armature/core/file"
)

// Switch is the storage of an open site, whose configuration may name another
// place meanwhile: what begins then goes there, what has begun ends where it was.
// Files do not move along. One has to be switched to before it is used.
type Switch struct {
	now atomic.Pointer[Storage]

	mu     sync.Mutex
	all    []Storage
	closed bool
}

// To has what begins from now on go to another place, and closes that with the
// others.
func (s *Switch) To(place Storage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return place.Close()
	}
	s.all = append(s.all, place)
	s.now.Store(&place)
	return nil
}

// Put implements file.Storage.
func (s *Switch) Put(ctx context.Context, key, path string) error {
	return (*s.now.Load()).Put(ctx, key, path)
}

// Open implements file.Storage.
func (s *Switch) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	return (*s.now.Load()).Open(ctx, key, offset)
}

// Delete implements file.Storage.
func (s *Switch) Delete(ctx context.Context, key string) error {
	return (*s.now.Load()).Delete(ctx, key)
}

// Move implements file.Storage.
func (s *Switch) Move(ctx context.Context, from, to string) error {
	return (*s.now.Load()).Move(ctx, from, to)
}

// List implements file.Storage.
func (s *Switch) List(ctx context.Context, prefix string, fn func(file.Object) error) error {
	return (*s.now.Load()).List(ctx, prefix, fn)
}

// Close closes every place there has been.
func (s *Switch) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for _, place := range s.all {
		failed = errors.Join(failed, place.Close())
	}
	s.all, s.closed = nil, true
	return failed
}
