package live

import (
	"context"
	"log/slog"
	"time"
)

// resume tells a stream what has happened since the client was last told something.
// What it had been shown is not known any more, so for each list it is told which rows
// there are: those that are not among them are gone, and nothing is said of rows that
// it never saw. Where that is not known either, or other rights count now, it is to
// read anew.
func (p *pump) resume(ctx context.Context, st *Stream) {
	was, ok := parsePosition(st.resume)
	now := time.Now()
	ok = ok && was.lineage == p.s.c.Lineage && was.asks == sumOf(st.members) && was.schema == p.versions.Schema &&
		!was.at.After(now.Add(time.Minute)) && now.Sub(was.at) < keep-time.Minute && p.s.c.Log.ValidPosition(was.of)
	if !ok {
		p.gaps(st)
		return
	}
	found, err := p.s.c.Log.Changes(ctx, was.of)
	if err != nil {
		p.s.c.Logger.Warn("a stream cannot be resumed; it is read anew", slog.Any("error", err))
		p.gaps(st)
		return
	}
	if found.Since == 0 || was.at.Before(time.UnixMilli(found.Since).Add(heard)) {
		p.gaps(st) // not all of it was logged
		return
	}
	for _, m := range st.members {
		g := m.group
		if g == nil {
			for _, c := range found.List {
				if c.DocType == "" && c.Name == m.topic && (c.For == "" || c.For == st.caller.User) {
					m.message(c.Data)
				}
			}
			continue
		}
		w := g.concerns(found, false)
		if w != nil && w.all {
			m.gap()
			continue
		}
		if w == nil {
			w = &what{}
		}
		if err := p.retell(ctx, m, w); err != nil {
			m.gap()
		}
	}
	if found.TooMany {
		p.gaps(st)
	}
}

// retell tells a subscription the rows that may have changed, as they are, and which
// rows there are.
func (p *pump) retell(ctx context.Context, m *member, w *what) error {
	g := m.group
	if len(w.names) > 0 {
		other := *g
		other.shown = map[string]uint64{} // nothing was told
		d, err := p.s.evaluate(ctx, &other, w)
		if err != nil {
			return err
		}
		for name := range d.changed {
			if _, known := g.shown[name]; !known {
				delete(d.changed, name) // of a moment later than the list of rows: it is told in a moment
			}
		}
		m.tell(g, d)
	}
	if g.name == "" || len(g.shown) == 0 {
		m.rows(g)
	}
	return nil
}

func (p *pump) gaps(st *Stream) {
	for _, m := range st.members {
		m.gap()
	}
}
