// Package outfile writes the files that commands make: whole or not at all, and over
// others only where that is meant.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file under a hidden name and renames it: whoever watches
// the folder never reads half of it.
func Replace(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".armature-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Create writes a file that is not there yet.
func Create(path string, content []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Free reports whether a file may be written: a backup that is there is worth more
// than the wish to make another.
func Free(file string) error {
	if file == "-" {
		return nil
	}
	switch _, err := os.Lstat(file); {
	case err == nil:
		return fmt.Errorf("%s is there already and is not overwritten: name another file, or remove it first", file)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// Publish gives a whole file its name, unless somebody else has taken that
// meanwhile.
func Publish(tmp, file string) error {
	err := os.Link(tmp, file)
	if err == nil {
		return os.Remove(tmp)
	}
	if err := Free(file); err != nil {
		return err
	}
	return os.Rename(tmp, file) // a file system without links
}
