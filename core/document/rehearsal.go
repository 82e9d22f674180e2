package document

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"armature/core/doctype"
	"armature/core/fault"
)

// Rehearsal is a run of which nothing is kept: every transaction that begins under its
// context is rolled back by the Store, and what it would have changed is noted. Whoever
// runs it keeps requests to other servers from going out.
type Rehearsal struct {
	schema *doctype.Schema
	sees   func(ctx context.Context, tx Tx, typeName, name string) bool

	mu         sync.Mutex
	touched    []Touched
	more       int      // that were not noted
	unforeseen []string // what was refused in the rehearsal, in words
}

// Touched is what a run did to one document, or to many of a DocType at once.
type Touched struct {
	Type          *doctype.DocType
	Name          string
	Before, After *doctype.Document // nil: there was none; there is none any more
	Field         string            // of many: the field that was set
	Count         int64             // of many: how many there were
	Hidden        bool              // whoever looks may not read the document
}

// maxTouched is how many documents a rehearsal notes.
const maxTouched = 200

// NewRehearsal begins a rehearsal for somebody to look at; sees reports whether they may
// read a document.
func NewRehearsal(schema *doctype.Schema, sees func(ctx context.Context, tx Tx, typeName, name string) bool) *Rehearsal {
	return &Rehearsal{schema: schema, sees: sees}
}

// Touched are the documents that were changed, in order, and how many more there were.
func (r *Rehearsal) Touched() (list []Touched, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.touched, r.more
}

// Unforeseen are the things that a rehearsal does not do, in words: what follows from
// them is not known before they happen.
func (r *Rehearsal) Unforeseen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unforeseen
}

// Refuse notes what the run has asked for and a rehearsal does not do.
func (r *Rehearsal) Refuse(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.unforeseen) < 20 && !slices.Contains(r.unforeseen, what) { // a run may be run again
		r.unforeseen = append(r.unforeseen, what)
	}
}

type rehearsalKey struct{}

// WithRehearsal is a context under which nothing is kept.
func WithRehearsal(ctx context.Context, r *Rehearsal) context.Context {
	return context.WithValue(ctx, rehearsalKey{}, r)
}

// RehearsalOf is the rehearsal of a context; nil: what is written is kept.
func RehearsalOf(ctx context.Context) *Rehearsal {
	r, _ := ctx.Value(rehearsalKey{}).(*Rehearsal)
	return r
}

// Run runs the function of a transaction and ends it with ErrRollback. It is for the
// Store, which may run it again.
func (r *Rehearsal) Run(ctx context.Context, tx Tx, fn func(Tx) error) error {
	tx.SideEffects().Rehearse()
	w := &rehearsing{Tx: tx, r: r, at: map[[2]string]int{}}
	if err := fn(w); err != nil {
		return err
	}
	for i := range w.touched {
		t := &w.touched[i]
		if t.Field != "" || t.After == nil {
			continue
		}
		doc, err := tx.Get(ctx, r.schema, t.Type, t.Name, false)
		if err != nil {
			return err
		}
		if t.After = doc; t.Before == nil {
			t.Hidden = !r.sees(ctx, tx, t.Type.Name, t.Name)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range w.touched {
		if t.Before == nil && t.After == nil && t.Field == "" {
			continue // it came and went
		}
		if len(r.touched) >= maxTouched {
			r.more++
			continue
		}
		r.touched = append(r.touched, t)
	}
	return ErrRollback
}

// bookkeeping are DocTypes in which the platform keeps what a change was: they follow
// from it.
func bookkeeping(typeName string) bool {
	return typeName == versionName || typeName == "Deleted Document" || typeName == "Activity Log"
}

// rehearsing notes what a transaction writes.
type rehearsing struct {
	Tx
	r       *Rehearsal
	touched []Touched
	at      map[[2]string]int
}

// before reads a document that is about to change, the first time it is.
func (w *rehearsing) before(ctx context.Context, dt *doctype.DocType, name string) error {
	key := [2]string{dt.Name, name}
	if _, ok := w.at[key]; ok || bookkeeping(dt.Name) {
		return nil
	}
	doc, err := w.Get(ctx, w.r.schema, dt, name, true)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	w.note(Touched{Type: dt, Name: name, Before: doc, After: doc, Hidden: !w.r.sees(ctx, w.Tx, dt.Name, name)})
	return nil
}

func (w *rehearsing) note(t Touched) {
	w.at[[2]string{t.Type.Name, t.Name}] = len(w.touched)
	w.touched = append(w.touched, t)
}

// Insert implements Tx.
func (w *rehearsing) Insert(ctx context.Context, doc *doctype.Document, needs ...Need) error {
	err := w.Tx.Insert(ctx, doc, needs...)
	if err != nil || bookkeeping(doc.Type.Name) {
		return err
	}
	if i, ok := w.at[[2]string{doc.Type.Name, doc.Name()}]; ok {
		w.touched[i].After = doc
		return nil
	}
	w.note(Touched{Type: doc.Type, Name: doc.Name(), After: doc})
	return nil
}

// Update implements Tx.
func (w *rehearsing) Update(ctx context.Context, sc *doctype.Schema, doc *doctype.Document, columns, tables []*doctype.Field, expect string, needs ...Need) (bool, error) {
	if err := w.before(ctx, doc.Type, doc.Name()); err != nil {
		return false, err
	}
	return w.Tx.Update(ctx, sc, doc, columns, tables, expect, needs...)
}

// UpdateIf implements Tx.
func (w *rehearsing) UpdateIf(ctx context.Context, dt *doctype.DocType, name string, expect, set map[string]any) (bool, error) {
	if err := w.before(ctx, dt, name); err != nil {
		return false, err
	}
	return w.Tx.UpdateIf(ctx, dt, name, expect, set)
}

// Delete implements Tx.
func (w *rehearsing) Delete(ctx context.Context, sc *doctype.Schema, dt *doctype.DocType, name string) (bool, error) {
	if err := w.before(ctx, dt, name); err != nil {
		return false, err
	}
	found, err := w.Tx.Delete(ctx, sc, dt, name)
	if i, ok := w.at[[2]string{dt.Name, name}]; ok && found && err == nil {
		w.touched[i].After = nil
	}
	return found, err
}

// Replace implements Tx.
func (w *rehearsing) Replace(ctx context.Context, dt *doctype.DocType, f *doctype.Field, where doctype.Where, value any) (int64, error) {
	n, err := w.Tx.Replace(ctx, dt, f, where, value)
	if err == nil && n > 0 && !bookkeeping(dt.Name) {
		w.touched = append(w.touched, Touched{Type: dt, Name: fmt.Sprint(value), Field: f.Name, Count: n})
	}
	return n, err
}

// Savepoint implements Tx: what is undone is not noted.
func (w *rehearsing) Savepoint(ctx context.Context, fn func() error) error {
	mark := len(w.touched)
	deleted := make([]*doctype.Document, mark)
	for i := range deleted {
		deleted[i] = w.touched[i].After
	}
	err := w.Tx.Savepoint(ctx, fn)
	if err == nil {
		return nil
	}
	for _, t := range w.touched[mark:] {
		delete(w.at, [2]string{t.Type.Name, t.Name})
	}
	w.touched = w.touched[:mark]
	for i, after := range deleted {
		w.touched[i].After = after
	}
	return err
}
