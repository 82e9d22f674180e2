package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/query"
	"armature/core/store"
)

// files writes the bytes that the Files of the snapshot refer to. Those of a File
// that was deleted since may be gone: it is noted, and is not restored.
func (w *writer) files(ctx context.Context, n *store.Snapshot, schema *doctype.Schema) error {
	t := newTally(filesPart)
	dt := schema.DocType(file.DocType)
	key := doctype.Operand{Field: dt.Field("storage_key")}
	sel := &doctype.Select{
		DocType: dt, Columns: []doctype.Column{{Operand: key, Key: "storage_key"}},
		Where: doctype.Compare{Operand: key, Op: query.Is, Value: true},
		Group: []doctype.Operand{key}, Order: []doctype.OrderBy{{Operand: key}},
	}
	err := n.Rows(ctx, sel, func(values []any) error {
		key, _ := values[0].(string)
		if key == "" {
			return nil
		}
		content, err := w.site.Files.Open(ctx, key, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return w.gone(ctx, dt, key)
		}
		if err != nil {
			return err
		}
		err = w.file(t, filesPrefix, key, content)
		return errors.Join(err, content.Close())
	})
	if err != nil {
		return fmt.Errorf("back up the files: %w", err)
	}
	w.done(t)
	return nil
}

// gone notes a file whose bytes are not there, if its File is not there any more
// either.
func (w *writer) gone(ctx context.Context, dt *doctype.DocType, key string) error {
	var left int64
	err := w.site.Store.Read(ctx, func(tx document.Tx) (err error) {
		left, err = tx.Count(ctx, &doctype.Select{
			DocType: dt, Where: doctype.Compare{Operand: doctype.Operand{Field: dt.Field("storage_key")}, Op: query.Eq, Value: key},
		})
		return err
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("the bytes of %s are missing from the storage", key)
	}
	w.manifest.Gone = append(w.manifest.Gone, key)
	return err
}

// file writes the bytes of a file, which never change: where their number is
// known they go straight through.
func (w *writer) file(t *tally, prefix, key string, content io.Reader) error {
	sized, ok := content.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return w.spooled(t, prefix, key, content)
	}
	info, err := sized.Stat()
	if err != nil {
		return err
	}
	if err := w.p.entry(prefix+key, info.Size()); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(w.p.tar, io.TeeReader(content, sum))
	if err != nil {
		return err
	}
	t.file(key, n, hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// spooled writes an entry whose size is known only at its end. It goes through a
// file of its own, which has no name.
func (w *writer) spooled(t *tally, prefix, name string, content io.Reader) error {
	spool, err := os.CreateTemp("", "armature-backup-*")
	if err != nil {
		return err
	}
	defer spool.Close()
	if err := os.Remove(spool.Name()); err != nil {
		defer os.Remove(spool.Name()) // a system that keeps the names of open files
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(spool, sum), content)
	if err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	if err := w.p.entry(prefix+name, size); err != nil {
		return err
	}
	if _, err := io.Copy(w.p.tar, spool); err != nil {
		return err
	}
	t.file(name, size, hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// file counts a file by its name, size and hash.
func (t *tally) file(name string, size int64, sum string) {
	t.part.Bytes += size
	t.add(fmt.Appendf(nil, "%s %d %s\n", name, size, sum))
}

// plugins writes the files in the site's folder of plugins.
func (w *writer) plugins() error {
	t := newTally(pluginsPart)
	err := filepath.WalkDir(w.site.Plugins, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(w.site.Plugins, path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // a link becomes what it leads to
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		content, err := os.Open(path)
		if err != nil {
			return err
		}
		err = w.spooled(t, pluginsPrefix, filepath.ToSlash(name), content)
		return errors.Join(err, content.Close())
	})
	if err != nil {
		return fmt.Errorf("back up the plugins: %w", err)
	}
	w.done(t)
	return nil
}

// frontends writes those that were published. Their files never change.
func (w *writer) frontends(ctx context.Context) error {
	if w.site.Frontends == nil {
		return nil
	}
	t := newTally(frontendPart)
	err := w.site.Frontends(ctx, func(name string, content io.Reader) error { return w.file(t, frontendPrefix, name, content) })
	if err != nil {
		return fmt.Errorf("back up the published frontends: %w", err)
	}
	w.done(t)
	return nil
}
