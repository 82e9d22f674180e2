package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/file"
	"armature/core/store"
)

// Restore fills an empty site from the archive and then compares every record in
// the database with what was put there. spool is a folder on the file system of
// the storage. The site may be used after a nil error, and is to be thrown away
// after any other. Where s has no Files the bytes of files go nowhere, and where it
// has no folder for Plugins or Published those do: it is how an archive is tried.
func (a *Archive) Restore(ctx context.Context, s Contents, spool string, tell Progress) error {
	r := &restorer{a: a, site: s, spool: spool, stored: map[string]*tally{}}
	for dt := range s.Boot.All {
		if rank(dt.Name) > 0 {
			continue
		}
		if err := r.migrate(ctx, dt); err != nil {
			return err
		}
	}
	_, err := a.each(ctx, "restore", tell, func(name string, content io.Reader) error { return r.entry(ctx, name, content) })
	if err != nil {
		return err
	}
	return r.verify(ctx)
}

type restorer struct {
	a     *Archive
	site  Contents
	spool string

	schema *doctype.Schema   // of the archive; nil until the DocTypes are there
	stored map[string]*tally // by table
}

func (r *restorer) entry(ctx context.Context, name string, content io.Reader) error {
	switch {
	case strings.HasPrefix(name, documentsPrefix):
		return r.rows(ctx, content)
	case name == countersEntry:
		return r.counters(ctx, content)
	case strings.HasPrefix(name, filesPrefix) && r.site.Files != nil:
		return r.file(ctx, name[len(filesPrefix):], content)
	case strings.HasPrefix(name, pluginsPrefix) && r.site.Plugins != "":
		return writeFile(filepath.Join(r.site.Plugins, filepath.FromSlash(name[len(pluginsPrefix):])), content)
	case strings.HasPrefix(name, frontendPrefix) && r.site.Published != "":
		return writeFile(filepath.Join(r.site.Published, filepath.FromSlash(name[len(frontendPrefix):])), content)
	}
	return nil
}

// rows stores the rows of one entry.
func (r *restorer) rows(ctx context.Context, content io.Reader) error {
	var (
		dt    *doctype.DocType
		from  []*doctype.Field // the columns of a line
		batch [][]any
	)
	err := readRows(content, func(head *tableHead) (err error) {
		if dt, err = r.table(ctx, head.Table); err != nil {
			return err
		}
		if r.stored[dt.Name] == nil {
			r.stored[dt.Name] = newTally(dt.Name)
		}
		for _, name := range head.Columns {
			f := dt.Field(name)
			if f == nil || f.Index < 0 {
				return fault.Invalid("", "The archive was made by a newer version (%s): %s has no field %s here", r.a.Header.Version, dt.Name, name)
			}
			from = append(from, f)
		}
		return nil
	}, func(_ *tableHead, line []byte) error {
		values, err := parseRow(line, from)
		if err != nil {
			return damaged(err)
		}
		row := make([]any, len(dt.Columns))
		for i, f := range dt.Columns {
			if !f.Kind.Nullable() {
				row[i] = int64(0)
			}
		}
		for i, f := range from {
			row[f.Index] = values[i]
		}
		if dt.Name == file.DocType && slices.Contains(r.a.Manifest.Gone, fmt.Sprint(row[dt.Field("storage_key").Index])) {
			return nil
		}
		text, err := appendRow(nil, canonical(dt, row))
		if err != nil {
			return err
		}
		r.stored[dt.Name].add(text)
		batch = append(batch, row)
		return nil
	})
	if err != nil {
		return err
	}
	return r.site.Store.Load(ctx, dt, batch)
}

// canonical gives a Float that was left out the type that it is read back with.
func canonical(dt *doctype.DocType, row []any) []any {
	for i, f := range dt.Columns {
		if n, whole := row[i].(int64); whole && f.Kind == doctype.Float {
			row[i] = float64(n)
		}
	}
	return row
}

// table finds the DocType of a table. The first one after those in which DocTypes
// are stored has all the others made.
func (r *restorer) table(ctx context.Context, name string) (*doctype.DocType, error) {
	if rank(name) == 0 {
		if dt := r.site.Boot.DocType(name); dt != nil {
			return dt, nil
		}
	}
	if err := r.makeTables(ctx); err != nil {
		return nil, err
	}
	for _, dt := range r.site.Private {
		if dt.Name == name {
			return dt, nil
		}
	}
	if dt := r.schema.DocType(name); dt != nil {
		return dt, nil
	}
	return nil, fault.Invalid("", "The archive was made by a newer version (%s): nothing is known of %s here", r.a.Header.Version, name)
}

// makeTables makes the tables of the DocTypes that were stored.
func (r *restorer) makeTables(ctx context.Context) error {
	if r.schema != nil {
		return nil
	}
	err := r.site.Store.Write(ctx, document.OwnTx, func(tx document.Tx) (err error) {
		version, err := tx.BumpSchema(ctx)
		if err == nil {
			r.schema, err = document.LoadSchema(ctx, tx, r.site.Boot, version)
		}
		return err
	})
	if err != nil {
		return err
	}
	for dt := range r.schema.All {
		if rank(dt.Name) == 0 {
			continue
		}
		if err := r.migrate(ctx, dt); err != nil {
			return err
		}
	}
	for _, dt := range r.site.Private {
		if err := r.migrate(ctx, dt); err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer) migrate(ctx context.Context, dt *doctype.DocType) error {
	return r.site.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, dt) })
}

func (r *restorer) counters(ctx context.Context, content io.Reader) error {
	r.stored[countersPart] = newTally(countersPart)
	return eachLine(content, func(line []byte) error {
		var pair struct {
			name  string
			value int64
		}
		if err := json.Unmarshal(line, &[]any{&pair.name, &pair.value}); err != nil {
			return damaged(err)
		}
		r.stored[countersPart].add(line)
		return r.site.Store.SetCounter(ctx, pair.name, pair.value)
	})
}

func (r *restorer) file(ctx context.Context, key string, content io.Reader) error {
	spool := filepath.Join(r.spool, "restore")
	if err := writeFile(spool, content); err != nil {
		return err
	}
	defer os.Remove(spool) // a storage may have moved it away
	return r.site.Files.Put(ctx, key, spool)
}

func writeFile(name string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// verify reads everything back and compares it with what was stored.
func (r *restorer) verify(ctx context.Context) error {
	if err := r.makeTables(ctx); err != nil {
		return err
	}
	return r.site.Store.Snapshot(ctx, func(n *store.Snapshot) error {
		for _, dt := range tables(r.schema, r.site) {
			want := r.stored[dt.Name]
			if want == nil {
				want = newTally(dt.Name)
			}
			got := newTally(dt.Name)
			var line []byte
			err := n.Rows(ctx, everything(dt), func(values []any) (err error) {
				line, err = appendRow(line[:0], values)
				got.add(line)
				return err
			})
			if err != nil {
				return fmt.Errorf("read %s back: %w", dt.Name, err)
			}
			if err := same(got, want); err != nil {
				return err
			}
		}
		got, want := newTally(countersPart), r.stored[countersPart]
		err := n.Counters(ctx, func(name string, value int64) error {
			line, err := appendRow(nil, []any{name, value})
			got.add(line)
			return err
		})
		if err != nil || want == nil {
			return err
		}
		return same(got, want)
	})
}

func same(got, want *tally) error {
	if g, w := got.done(), want.done(); g != w {
		return fmt.Errorf("restored %s differs from the archive: %d records, want %d", w.Name, g.Records, w.Records)
	}
	return nil
}
