package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Disk is a Storage in a folder. Files are written elsewhere on the same file
// system and renamed into it, so that a file that can be opened is whole.
type Disk struct {
	root *os.Root // no key leads out of it
	dir  string
}

// OpenDisk opens the storage in a folder, which is made if it is missing.
func OpenDisk(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("file storage: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("file storage: %w", err)
	}
	return &Disk{root: root, dir: dir}, nil
}

// Close closes the folder.
func (d *Disk) Close() error { return d.root.Close() }

// Put implements Storage. The file and the folders above it are synced: a name
// that is lost with the power is a lost file.
func (d *Disk) Put(_ context.Context, key, from string) error {
	if err := syncPath(from); err != nil {
		return err
	}
	return d.rename(from, key)
}

// Move implements Storage.
func (d *Disk) Move(_ context.Context, from, to string) error {
	if _, err := d.root.Stat(from); err != nil { // which refuses a key that leads out, too
		return err
	}
	return d.rename(filepath.Join(d.dir, filepath.FromSlash(from)), to)
}

// rename brings a file to its key.
func (d *Disk) rename(from, key string) error {
	made, err := d.makeFolder(path.Dir(key))
	if err != nil {
		return err
	}
	to := filepath.Join(d.dir, filepath.FromSlash(key))
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := syncPath(filepath.Dir(to)); err != nil || !made {
		return err
	}
	return syncPath(filepath.Dir(filepath.Dir(to)))
}

// makeFolder makes the folder of a key and reports whether it is new. It goes
// through the root, so it is also what refuses a key that leads out.
func (d *Disk) makeFolder(name string) (bool, error) {
	if _, err := d.root.Stat(name); err == nil {
		return false, nil
	}
	return true, d.root.MkdirAll(name, 0o700)
}

func syncPath(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open implements Storage.
func (d *Disk) Open(_ context.Context, key string, offset int64) (io.ReadCloser, error) {
	f, err := d.root.Open(key)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Delete implements Storage.
func (d *Disk) Delete(_ context.Context, key string) error {
	if err := d.root.Remove(key); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List implements Storage.
func (d *Disk) List(ctx context.Context, prefix string, fn func(Object) error) error {
	top := strings.TrimSuffix(prefix[:strings.LastIndexByte(prefix, '/')+1], "/")
	if top == "" {
		top = "."
	}
	err := fs.WalkDir(d.root.FS(), top, func(key string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(key, prefix) {
			return ignoreMissing(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(Object{Key: key, Size: info.Size(), Modified: info.ModTime()})
	})
	return err
}

// ignoreMissing passes over what somebody removed while it was being listed.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
