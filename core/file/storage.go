package file

import (
	"context"
	"io"
	"time"
)

// Storage keeps bytes under keys. A key is lower-case letters, digits, ".", "-"
// and "/"; this package makes every key, nothing of a client goes into one. Disk
// and s3.Bucket satisfy it; storagetest is what each of them passes.
type Storage interface {
	// Put stores the file at path under key, replacing what is there. The bytes
	// appear whole or not at all, and are durable when Put returns. It may move
	// the file away from path.
	Put(ctx context.Context, key, path string) error
	// Open reads the bytes from offset on; fs.ErrNotExist when there are none.
	Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error)
	// Delete removes the bytes; no error when there are none.
	Delete(ctx context.Context, key string) error
	// Move gives the bytes another key, replacing what is there; fs.ErrNotExist
	// when there are none. They are under one of the two keys at any moment, or
	// under both.
	Move(ctx context.Context, from, to string) error
	// List calls fn for every object whose key begins with prefix, which ends
	// where a name does or begins one. An error of fn ends the list.
	List(ctx context.Context, prefix string, fn func(Object) error) error
}

// Object is one stored thing.
type Object struct {
	Key      string
	Size     int64 // bytes
	Modified time.Time
}

// Prefixes of the keys.
const (
	blobs   = "blob/"
	parts   = "part/"
	trash   = "trash/"
	ledgers = "sweep/"
)
