package backup

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// Runs is what a site's database notes of the archives that are made of it by
// schedule: of several servers one at a time has the lease of making the next.
type Runs struct {
	Store document.Store
	Now   func() time.Time
}

// Run is the state that is noted.
type Run struct {
	Every   time.Duration // between two; 0: none was ever asked for
	Tried   time.Time     // the last attempt began
	Done    time.Time     // the state of the site that is in the last archive
	Problem string        // of the last attempt; empty: it succeeded
	File    string        // key of the last archive
	Size    int64         // bytes of it
	Records int64
}

// lives is how long a lease holds without being renewed. Clocks of servers may
// differ by less; where they do not, two archives are made instead of one.
const lives = 5 * time.Minute

// RenewEvery is how often the holder of a lease renews it.
const RenewEvery = time.Minute

const runName = "site"

// Table is the table of the runs. It belongs to no DocType of the schema and is in
// no archive.
var Table = sync.OnceValue(func() *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{Name: "Site Backup", Table: "armature_backup", Fields: []doctype.FieldDefinition{
		{Name: "every", Type: "Int"}, // seconds, as all times here
		{Name: "tried", Type: "Int"},
		{Name: "done", Type: "Int"},
		{Name: "problem", Type: "Long Text"},
		{Name: "file", Type: "Data"},
		{Name: "size", Type: "Int"},
		{Name: "records", Type: "Int"},
		{Name: "holder", Type: "Data"}, // of the lease; empty: nobody
		{Name: "until", Type: "Int"},   // the lease holds
	}})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
})

var runSchema = sync.OnceValue(func() *doctype.Schema { return doctype.NewSchema(0, []*doctype.DocType{Table()}) })

// Read reads the state; of a site that was never backed up it is empty.
func (r Runs) Read(ctx context.Context) (run Run, err error) {
	err = r.Store.Read(ctx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, runSchema(), Table(), runName, false)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err == nil {
			run = runOf(doc)
		}
		return err
	})
	return run, err
}

func runOf(doc *doctype.Document) Run {
	return Run{
		Every: time.Duration(doc.Int("every")) * time.Second, Tried: at(doc.Int("tried")), Done: at(doc.Int("done")),
		Problem: doc.Text("problem"), File: doc.Text("file"), Size: doc.Int("size"), Records: doc.Int("records"),
	}
}

// at is a time from its seconds; the zero time is one that never was.
func at(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// Lease is the right to make the next archive.
type Lease struct {
	r      Runs
	holder string
}

// Take takes the lease where an archive is due and nobody else is making it, or
// has stopped to. last is the state of before either way.
func (r Runs) Take(ctx context.Context, every time.Duration) (l *Lease, last Run, err error) {
	holder := rand.Text()
	err = r.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		l, last = nil, Run{} // it may run again
		doc, err := tx.Get(ctx, runSchema(), Table(), runName, true)
		if fault.KindOf(err) == fault.NotFound {
			if err = tx.Insert(ctx, r.first()); err == nil {
				doc, err = tx.Get(ctx, runSchema(), Table(), runName, true)
			}
		}
		if err != nil {
			return err
		}
		now := r.Now()
		last = runOf(doc)
		if doc.Text("holder") != "" && at(doc.Int("until")).After(now) || now.Before(last.Due(every)) {
			return nil
		}
		ok, err := tx.UpdateIf(ctx, Table(), runName, nil, map[string]any{
			"holder": holder, "until": now.Add(lives).Unix(), "tried": now.Unix(), "every": int64(every / time.Second),
		})
		if ok {
			l = &Lease{r, holder}
		}
		return err
	})
	if err != nil {
		l = nil
	}
	return l, last, err
}

// retryFailed is how long after a failure it is tried again, unless the next
// archive is due earlier.
const retryFailed = 15 * time.Minute

// Due is when the next archive is to be made.
func (r Run) Due(every time.Duration) time.Time {
	if r.Tried.IsZero() {
		return time.Time{}
	}
	next := r.Tried.Add(every)
	if r.Problem != "" || r.Done.Before(r.Tried) { // failed, or was broken off
		next = r.Tried.Add(min(every, retryFailed))
	}
	return next
}

func (r Runs) first() *doctype.Document {
	doc := doctype.NewDocument(Table())
	now := doctype.FormatDatetime(r.Now().UTC())
	for field, value := range map[string]any{
		"name": runName, "creation": now, "modified": now, "owner": "Administrator", "modified_by": "Administrator",
		"every": int64(0), "tried": int64(0), "done": int64(0), "size": int64(0), "records": int64(0), "until": int64(0), "holder": "",
	} {
		doc.Put(field, value)
	}
	return doc
}

// Renew holds the lease for longer; it fails where another server has it.
func (l *Lease) Renew(ctx context.Context) error {
	return l.write(ctx, map[string]any{"until": l.r.Now().Add(lives).Unix()})
}

// End gives the lease back, with what came of it.
func (l *Lease) End(ctx context.Context, run Run) error {
	values := map[string]any{"holder": "", "until": int64(0), "problem": run.Problem}
	if run.Problem == "" {
		values["done"], values["file"], values["size"], values["records"] = run.Done.Unix(), run.File, run.Size, run.Records
	}
	return l.write(ctx, values)
}

func (l *Lease) write(ctx context.Context, values map[string]any) error {
	return l.r.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		ok, err := tx.UpdateIf(ctx, Table(), runName, map[string]any{"holder": l.holder}, values)
		if err == nil && !ok {
			err = fmt.Errorf("another server has begun to back the site up")
		}
		return err
	})
}
