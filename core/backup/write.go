package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/query"
	"armature/core/store"
)

// segment is how many bytes of rows are an entry, about: what is held in memory.
const segment = 1 << 20

// Site is what a backup is made of, or restored into.
type Site struct {
	Store   *store.Store
	Boot    *doctype.Schema    // the DocTypes in which DocTypes are stored, of this binary
	Private []*doctype.DocType // tables that belong to no DocType of the schema
	Files   file.Storage
	Plugins string // folder; need not exist
}

// Options are what else goes into an archive.
type Options struct {
	Header     Header // Format and Made are filled in
	Config     []byte
	Key        []byte
	Passphrase string
	Work       int // see newPacker
	Now        func() time.Time
}

// Write writes the site into an archive: the state at one moment, while the site
// goes on being used.
func Write(ctx context.Context, w io.Writer, s Site, o Options) (*Manifest, error) {
	o.Header.Format, o.Header.Made = format, o.Now().UTC().Truncate(time.Second)
	p, err := newPacker(w, o.Passphrase, o.Work, o.Header.Made)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		p.putJSON(headerEntry, o.Header), p.put(configEntry, o.Config),
		p.put(keyEntry, []byte(hex.EncodeToString(o.Key)+"\n")),
	); err != nil {
		return nil, err
	}
	wr := &writer{p: p, site: s, manifest: &Manifest{}}
	if err := s.Store.Snapshot(ctx, func(n *store.Snapshot) error { return wr.snapshot(ctx, n) }); err != nil {
		return nil, err
	}
	if err := wr.plugins(); err != nil {
		return nil, err
	}
	if err := p.putJSON(manifestEntry, wr.manifest); err != nil {
		return nil, err
	}
	return wr.manifest, p.close()
}

type writer struct {
	p        *packer
	site     Site
	manifest *Manifest
	segments int
}

func (w *writer) done(t *tally) { w.manifest.Parts = append(w.manifest.Parts, t.done()) }

func (w *writer) snapshot(ctx context.Context, n *store.Snapshot) error {
	schema, err := document.LoadSchema(ctx, n, w.site.Boot, 0)
	if err != nil {
		return err
	}
	for _, dt := range tables(schema, w.site) {
		if err := w.table(ctx, n, dt); err != nil {
			return fmt.Errorf("back up %s: %w", dt.Name, err)
		}
	}
	if err := w.counters(ctx, n); err != nil {
		return err
	}
	return w.files(ctx, n, schema)
}

// tables are the DocTypes whose rows go into an archive, those in which DocTypes
// are stored first: they say what the others are. Those come in the shape in
// which this binary knows them, since it has read the others by it.
func tables(schema *doctype.Schema, s Site) []*doctype.DocType {
	var all []*doctype.DocType
	for dt := range schema.All {
		if rank(dt.Name) == 0 {
			dt = s.Boot.DocType(dt.Name)
		}
		all = append(all, dt)
	}
	slices.SortFunc(all, func(a, b *doctype.DocType) int {
		return cmp.Or(rank(a.Name)-rank(b.Name), strings.Compare(a.Name, b.Name))
	})
	return append(all, s.Private...)
}

// rank is 0 for what LoadSchema reads.
func rank(typeName string) int {
	switch typeName {
	case doctype.DocTypeName, doctype.DocFieldName, doctype.DocPermName, "Document Naming Rule", "Document Naming Rule Condition":
		return 0
	}
	return 1
}

// everything selects all rows of a table in the order of their names, which is
// the same in every database.
func everything(dt *doctype.DocType) *doctype.Select {
	sel := &doctype.Select{DocType: dt, Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}}}}
	for _, f := range dt.Columns {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
	}
	return sel
}

// tableHead is the first line of an entry with rows.
type tableHead struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

func (w *writer) table(ctx context.Context, n *store.Snapshot, dt *doctype.DocType) error {
	head := tableHead{Table: dt.Name}
	for _, f := range dt.Columns {
		head.Columns = append(head.Columns, f.Name)
	}
	first, err := json.Marshal(head)
	if err != nil {
		return err
	}
	first = append(first, '\n')
	t := newTally(dt.Name)
	buf := slices.Clone(first)
	flush := func() error {
		w.segments++
		err := w.p.put(fmt.Sprintf("%s%06d.ndjson", documentsPrefix, w.segments), buf)
		buf = append(buf[:0], first...)
		return err
	}
	err = n.Rows(ctx, everything(dt), func(values []any) (err error) {
		from := len(buf)
		if buf, err = appendRow(buf, values); err != nil {
			return err
		}
		t.add(buf[from:])
		if len(buf) < segment {
			return nil
		}
		return flush()
	})
	if err == nil && len(buf) > len(first) {
		err = flush()
	}
	w.done(t)
	return err
}

func (w *writer) counters(ctx context.Context, n *store.Snapshot) error {
	t, buf := newTally(countersPart), []byte(nil)
	err := n.Counters(ctx, func(name string, value int64) (err error) {
		from := len(buf)
		buf, err = appendRow(buf, []any{name, value})
		t.add(buf[from:])
		return err
	})
	if err != nil {
		return fmt.Errorf("back up the counters: %w", err)
	}
	w.done(t)
	return w.p.put(countersEntry, buf)
}

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
		err = w.file(t, key, content)
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
func (w *writer) file(t *tally, key string, content io.Reader) error {
	sized, ok := content.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return w.spooled(t, filesPrefix, key, content)
	}
	info, err := sized.Stat()
	if err != nil {
		return err
	}
	if err := w.p.entry(filesPrefix+key, info.Size()); err != nil {
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
