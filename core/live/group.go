package live

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// member is one subscription of a stream.
type member struct {
	stream *Stream
	asked  asked
	id     []byte // asked.ID as JSON
	group  *group // nil: of a topic
	topic  string
	key    string // of the group
}

// group is the subscriptions that are shown the same.
type group struct {
	key     string
	doctype string
	name    string // of the one document; empty: a list
	query   *query.Query
	reads   map[string]bool // other DocTypes on which it depends

	members map[*member]struct{}
	shown   map[string]uint64 // sums of the rows that were told, by name
	fresh   bool              // it was never evaluated
}

// what names what of a group may have changed.
type what struct {
	all   bool
	names map[string]bool
}

// difference is what has become of the rows of a group.
type difference struct {
	changed map[string][]byte // rows as they are now
	removed []string
	sums    map[string]uint64 // of changed

	rows map[string][]byte // all that were read
}

// concerns picks the changes that a group has to look at; nil: none of them.
func (g *group) concerns(found document.Changes, all bool) *what {
	w := &what{all: all || found.TooMany || g.fresh, names: map[string]bool{}}
	for _, c := range found.List {
		switch {
		case c.DocType == "":
		case g.reads[c.DocType]:
			w.all = true
		case c.DocType != g.doctype:
		case c.Name == "":
			w.all = true
		case g.name == "" || g.name == c.Name:
			w.names[c.Name] = true
		}
	}
	if len(w.names) > mostNames {
		w.all = true
	}
	if !w.all && len(w.names) == 0 {
		return nil
	}
	return w
}

// mostNames is how many rows are asked for by name; of more the whole list is.
const mostNames = 200

// caller is one of those whose rights are the group's.
func (g *group) caller() *identity.Caller {
	for m := range g.members {
		return m.stream.caller
	}
	return nil
}

// evaluate asks what the group is shown now, of what may have changed. It changes
// nothing of the group.
func (s *Service) evaluate(ctx context.Context, g *group, w *what) (*difference, error) {
	s.c.Process.evaluated.Add(1)
	rows := map[string][]byte{}
	err := s.reading(g)(ctx, func(tx document.Tx) error {
		clear(rows)
		as := s.c.Documents().As(g.caller(), tx)
		if g.name != "" {
			text, err := as.AppendDocument(ctx, nil, g.doctype, g.name, document.ReadOptions{})
			switch fault.KindOf(err) {
			case 0:
				rows[g.name] = text
			case fault.NotFound, fault.Permission:
				err = nil
			}
			return err
		}
		q := g.query
		if !w.all {
			q = only(q, slices.Sorted(maps.Keys(w.names)))
		}
		list, err := as.AppendList(ctx, nil, g.doctype, q)
		if err != nil {
			return err
		}
		return eachRow(list, func(name string, row []byte) { rows[name] = row })
	})
	if err != nil {
		return nil, err
	}
	d := &difference{changed: map[string][]byte{}, sums: map[string]uint64{}, rows: rows}
	for name, row := range rows {
		sum := s.sums.of(row)
		if before, was := g.shown[name]; !was || before != sum {
			d.changed[name], d.sums[name] = row, sum
		}
	}
	for name := range g.shown {
		if _, is := rows[name]; !is && (w.all || w.names[name]) {
			d.removed = append(d.removed, name)
		}
	}
	if len(g.shown)+len(d.changed) > 2*MaxRows || len(rows) > MaxRows {
		return nil, errTooManyRows
	}
	return d, nil
}

// reading is how a group is read: what takes several statements is of one moment.
func (s *Service) reading(g *group) func(context.Context, func(document.Tx) error) error {
	several := g.name != "" && !s.c.Documents().ReadsOnce(g.doctype, document.ReadOptions{})
	if g.query != nil {
		several = slices.ContainsFunc(g.query.Fields, func(f query.Field) bool { return f.Nested != nil })
	}
	if !several {
		return s.c.Store.Read
	}
	return func(ctx context.Context, fn func(document.Tx) error) error { return s.c.Store.View(ctx, nil, fn) }
}

var errTooManyRows = fault.Invalid("", "A list that is followed may have %d rows: ask for fewer by filters", MaxRows)

// apply notes what is told of a difference.
func (g *group) apply(d *difference) {
	for name, sum := range d.sums {
		g.shown[name] = sum
	}
	for _, name := range d.removed {
		delete(g.shown, name)
	}
	g.fresh = false
}

// tell sends a difference to a subscription.
func (m *member) tell(g *group, d *difference) {
	for _, name := range slices.Sorted(maps.Keys(d.changed)) {
		m.event("changed", g.doctype, name, d.changed[name])
	}
	slices.Sort(d.removed)
	for _, name := range d.removed {
		m.event("removed", g.doctype, name, nil)
	}
}

func (m *member) event(kind, doctype, name string, data []byte) {
	b := append([]byte("event: "), kind...)
	b = append(append(b, "\ndata: {\"subscription\":"...), m.id...)
	b = append(append(b, `,"doctype":`...), quote(doctype)...)
	b = append(append(b, `,"name":`...), quote(name)...)
	if data != nil {
		b = append(append(b, `,"data":`...), data...)
	}
	m.stream.send(append(b, "}\n\n"...), true)
}

// message sends what was published to the topic.
func (m *member) message(data []byte) {
	b := append([]byte("event: message\ndata: {\"subscription\":"), m.id...)
	b = append(append(b, `,"topic":`...), quote(m.topic)...)
	b = append(append(b, `,"data":`...), data...)
	m.stream.send(append(b, "}\n\n"...), true)
}

// rows tells which rows there are: others that the client has are gone.
func (m *member) rows(g *group) {
	b := append([]byte("event: rows\ndata: {\"subscription\":"), m.id...)
	b = append(append(b, `,"doctype":`...), quote(g.doctype)...)
	b = append(b, `,"names":[`...)
	for i, name := range slices.Sorted(maps.Keys(g.shown)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quote(name)...)
	}
	m.stream.send(append(b, "]}\n\n"...), true)
}

// gap tells that the client has to read anew what it subscribed to.
func (m *member) gap() {
	m.stream.service.c.Process.gaps.Add(1)
	b := append([]byte("event: gap\ndata: {\"subscription\":"), m.id...)
	m.stream.send(append(b, "}\n\n"...), true)
}

// quote is a text as JSON. Line ends are escaped in it, as an event needs.
func quote(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // no string fails
	}
	return b
}
