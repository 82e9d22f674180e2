package pump

import (
	"context"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// A mark says that a site has, or may soon have, something to do, and when it is to be
// looked at. It is touched before a transaction that asks for a job is committed, and
// taken back only when it was not touched for longer than a transaction lasts and the
// site has nothing: so of a site that has something there always is one.
const (
	touchFor = time.Minute     // for so long a touch is good for further transactions
	keepFor  = 5 * time.Minute // so long after its last touch a mark is not taken back
)

// tables are those of the pump's own, beside river's.
type tables struct{ mark, server *doctype.DocType }

var own = sync.OnceValue(func() (t tables) {
	define := func(name, table string, fields ...doctype.FieldDefinition) *doctype.DocType {
		dt, err := doctype.Define(doctype.Definition{Name: name, Table: table, Fields: fields})
		if err != nil {
			panic(err) // a constant of this package is wrong
		}
		return dt
	}
	t.mark = define("Marked Site", "armature_job_mark", // its name is the site's
		doctype.FieldDefinition{Name: "due", Type: "Int", Indexed: 1}, // milliseconds since 1970, as all here
		doctype.FieldDefinition{Name: "touched", Type: "Int", Indexed: 1})
	t.server = define("Job Server", "armature_job_server", // its name is that of the process
		doctype.FieldDefinition{Name: "beat", Type: "Int"})
	return t
})

var schema = sync.OnceValue(func() *doctype.Schema {
	return doctype.NewSchema(0, []*doctype.DocType{own().mark, own().server})
})

// marks are those of all sites.
type marks struct {
	store document.Store
	now   func() time.Time

	mu    sync.Mutex
	known map[string]time.Time // when this process last touched a mark, by site
}

// mark is one as it was read.
type mark struct {
	site         string
	due, touched int64
}

// touch marks a site.
func (m *marks) touch(ctx context.Context, site string) error {
	now := m.now()
	m.mu.Lock()
	last := m.known[site]
	m.mu.Unlock()
	if !last.IsZero() && now.Sub(last) < touchFor && !now.Before(last) {
		return nil
	}
	err := m.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		at := now.UnixMilli()
		ok, err := tx.UpdateIf(ctx, own().mark, site, map[string]any{}, map[string]any{"due": at, "touched": at})
		if err != nil || ok {
			return err
		}
		err = tx.Savepoint(ctx, func() error {
			return tx.Insert(ctx, row(own().mark, site, now, map[string]any{"due": at, "touched": at}))
		})
		if fault.KindOf(err) == fault.Conflict { // somebody was faster
			_, err = tx.UpdateIf(ctx, own().mark, site, map[string]any{}, map[string]any{"due": at, "touched": at})
		}
		return err
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[site] = now
	return nil
}

// row is a row of a table of the pump's.
func row(dt *doctype.DocType, name string, now time.Time, values map[string]any) *doctype.Document {
	doc := doctype.NewDocument(dt)
	stamp := doctype.FormatDatetime(now.UTC())
	for field, value := range map[string]any{"name": name, "creation": stamp, "modified": stamp, "owner": "Administrator", "modified_by": "Administrator"} {
		doc.Put(field, value)
	}
	for field, value := range values {
		doc.Put(field, value)
	}
	return doc
}

// due returns the marks of sites that are to be looked at now, and with all those that
// were touched lately too: a process that has just started does not know what became of
// the transactions.
func (m *marks) due(ctx context.Context, all bool) (list []mark, err error) {
	now := m.now()
	where := doctype.AnyOf{compare("due", query.Le, now.UnixMilli())}
	if all {
		where = append(where, compare("touched", query.Ge, now.Add(-2*keepFor).UnixMilli()))
	}
	sel := &doctype.Select{DocType: own().mark, Columns: columns(own().mark, "name", "due", "touched"), Where: where}
	err = m.store.Read(ctx, func(tx document.Tx) error {
		list = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			var one mark
			one.site, _ = v[0].(string)
			one.due, _ = v[1].(int64)
			one.touched, _ = v[2].(int64)
			list = append(list, one)
			return nil
		})
	})
	return list, err
}

// settle says when a site is to be looked at again of which a mark was read before the
// site was: at next, its next job; zero: it has none, and its mark goes if it was not
// touched for long. One that was touched since stays as it is.
func (m *marks) settle(ctx context.Context, was mark, next time.Time) error {
	now := m.now()
	again := time.UnixMilli(was.touched).Add(keepFor)
	if next.IsZero() && !now.Before(again) {
		return m.remove(ctx, was)
	}
	if now.Before(again) && (next.IsZero() || again.Before(next)) {
		next = again
	}
	due := next.UnixMilli()
	if due == was.due {
		return nil
	}
	return m.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		_, err := tx.UpdateIf(ctx, own().mark, was.site, map[string]any{"touched": was.touched}, map[string]any{"due": due})
		return err
	})
}

// remove takes a mark back, unless it was touched since.
func (m *marks) remove(ctx context.Context, was mark) error {
	return m.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, schema(), own().mark, was.site, true)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil || doc.Int("touched") != was.touched {
			return err
		}
		_, err = tx.Delete(ctx, schema(), own().mark, was.site)
		return err
	})
}

// delay has a site looked at later that cannot be now.
func (m *marks) delay(ctx context.Context, was mark, at time.Time) error {
	return m.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		_, err := tx.UpdateIf(ctx, own().mark, was.site, map[string]any{"due": was.due, "touched": was.touched}, map[string]any{"due": at.UnixMilli()})
		return err
	})
}

func compare(field string, op query.Op, value int64) doctype.Where {
	return doctype.Compare{Operand: doctype.Operand{Field: own().mark.Field(field)}, Op: op, Value: value}
}

func columns(dt *doctype.DocType, names ...string) []doctype.Column {
	cols := make([]doctype.Column, len(names))
	for i, name := range names {
		cols[i] = doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name}
	}
	return cols
}
