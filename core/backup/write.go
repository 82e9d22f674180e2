package backup

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/store"
)

// segment is how many bytes of rows are an entry, about: what is held in memory.
const segment = 1 << 20

// Contents is what a backup is made of, or restored into.
type Contents struct {
	Store   *store.Store
	Boot    *doctype.Schema    // the DocTypes in which DocTypes are stored, of this binary
	Private []*doctype.DocType // tables that belong to no DocType of the schema
	Files   file.Storage
	Plugins string // folder; need not exist

	// Frontends puts the files of those that were published, by their paths below the
	// folder that they are in; nil: there are none.
	Frontends func(ctx context.Context, put func(name string, content io.Reader) error) error
	Published string // the folder into which they are restored; empty: they are not
}

// Options are what else goes into an archive.
type Options struct {
	Header     Header // Format and Made are filled in
	Config     []byte
	Key        []byte
	Passphrase string
	Work       int // logarithm of what a guess of the passphrase costs; 0: age's own, about a second and 256 MiB
	Now        func() time.Time
	Tell       Progress // of the bytes before they are compressed
}

// Write writes the site into an archive, from the beginning of f: the state at one
// moment, while the site goes on being used.
func Write(ctx context.Context, f io.WriteSeeker, s Contents, o Options) (m *Manifest, err error) {
	o.Header.Format, o.Header.Made = format, o.Now().UTC().Truncate(time.Second)
	err = writeCovered(f, o.Header, func(w io.Writer) error {
		m, err = seal(ctx, w, s, o)
		return err
	})
	return m, err
}

// seal writes what is sealed.
func seal(ctx context.Context, w io.Writer, s Contents, o Options) (*Manifest, error) {
	p, err := newPacker(ctx, w, o, o.Header.Made)
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
	if err := errors.Join(wr.plugins(), wr.frontends(ctx)); err != nil {
		return nil, err
	}
	if err := p.putJSON(manifestEntry, wr.manifest); err != nil {
		return nil, err
	}
	return wr.manifest, p.close()
}

type writer struct {
	p        *packer
	site     Contents
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
func tables(schema *doctype.Schema, s Contents) []*doctype.DocType {
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
