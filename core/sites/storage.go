package sites

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"armature/core/file"
	"armature/core/file/s3"
	"armature/core/site"
)

// storageSetting is the site setting that says where files are kept.
const storageSetting = "file_storage"

// storage is a place for files that is closed with the site.
type storage interface {
	file.Storage
	io.Closer
}

// openStorage opens where a site keeps the bytes of its files: a folder, or a part
// of a bucket that is named as the site's folder.
func openStorage(config *site.Config, folder, dir string) (storage, error) {
	bucket, named, err := bucketOf(config, folder)
	if err != nil {
		return nil, err
	}
	if !named {
		return file.OpenDisk(dir)
	}
	return s3.Open(bucket), nil
}

func bucketOf(config *site.Config, folder string) (bucket s3.Options, named bool, err error) {
	bucket, named, err = s3.Parse(storageOf(config))
	if bucket.Prefix == "" {
		bucket.Prefix = folder + "/"
	}
	return bucket, named, err
}

// Bucket is where in object storage a site keeps its files; empty where it keeps
// them on disk.
func (r *Record) Bucket() (bucket, prefix string) {
	o, named, err := bucketOf(r.Config, r.Place.Folder)
	if err != nil || !named {
		return "", ""
	}
	return o.Bucket, o.Prefix
}

func storageOf(c *site.Config) json.RawMessage {
	raw, _ := c.Get(storageSetting)
	return raw
}

// sameStorage reports whether two configurations name the same place for files.
func sameStorage(a, b *site.Config) bool { return bytes.Equal(storageOf(a), storageOf(b)) }

// movable is the storage of an open site, whose configuration may name another
// place meanwhile: what begins then goes there, what has begun ends where it was.
// Files do not move along.
type movable struct {
	now atomic.Pointer[storage]

	mu     sync.Mutex
	all    []storage
	closed bool
}

func (m *movable) move(to storage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return to.Close()
	}
	m.all = append(m.all, to)
	m.now.Store(&to)
	return nil
}

// Put implements file.Storage.
func (m *movable) Put(ctx context.Context, key, path string) error {
	return (*m.now.Load()).Put(ctx, key, path)
}

// Open implements file.Storage.
func (m *movable) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	return (*m.now.Load()).Open(ctx, key, offset)
}

// Delete implements file.Storage.
func (m *movable) Delete(ctx context.Context, key string) error {
	return (*m.now.Load()).Delete(ctx, key)
}

// Move implements file.Storage.
func (m *movable) Move(ctx context.Context, from, to string) error {
	return (*m.now.Load()).Move(ctx, from, to)
}

// List implements file.Storage.
func (m *movable) List(ctx context.Context, prefix string, fn func(file.Object) error) error {
	return (*m.now.Load()).List(ctx, prefix, fn)
}

// Close closes every place there has been.
func (m *movable) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var failed error
	for _, s := range m.all {
		failed = errors.Join(failed, s.Close())
	}
	m.all, m.closed = nil, true
	return failed
}
