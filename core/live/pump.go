package live

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// How the pump goes about its work.
const (
	between   = 10 * time.Millisecond // rounds, at least: what comes meanwhile is looked at together
	stay      = 2 * time.Second       // without a stream, before the pump ends
	followFor = time.Minute           // how often it is said anew that somebody follows
	checkFor  = time.Minute           // how often credentials are looked at that nothing is said to have changed
	most      = 20                    // tries of a round that rights overtake
)

// settles is when, after somebody began to follow, everything is looked at once more:
// what was committed meanwhile by processes that had not heard of it was not logged.
var settles = []time.Duration{heard, 5 * time.Second, 30 * time.Second}

// pump tells the streams of a site what changes. It is one goroutine, which has the
// groups for itself.
type pump struct {
	s      *Service
	ctx    context.Context
	stop   context.CancelFunc
	done   chan struct{}
	cancel func() // of OnChange

	groups map[string]*group
	topics map[string]map[*member]struct{}

	at       document.Position
	versions document.Versions
	began    time.Time   // to follow
	settle   []time.Time // when everything is looked at once more
	followed time.Time
	checked  time.Time
	beat     time.Time
	failing  bool
}

func newPump(s *Service) *pump {
	p := &pump{s: s, done: make(chan struct{}), groups: map[string]*group{}, topics: map[string]map[*member]struct{}{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.cancel = s.c.Log.OnChange(s.look)
	return p
}

// run goes on until there was no stream for a while.
func (p *pump) run() {
	defer close(p.done)
	defer p.stop()
	defer p.cancel()
	tick := time.NewTicker(p.s.c.Process.c.Poll)
	defer tick.Stop()
	used := time.Now()
	for {
		select {
		case <-p.ctx.Done():
			p.leave(true)
			return
		case <-p.s.wake:
		case <-tick.C:
		}
		begun := time.Now()
		joins, some := p.take()
		if some {
			used = begun
		}
		p.round(joins)
		if time.Since(used) > stay && p.leave(false) {
			return
		}
		if rest := between - time.Since(begun); rest > 0 {
			select {
			case <-time.After(rest):
			case <-p.ctx.Done():
			}
		}
	}
}

// take takes over who comes and forgets who has left. some: there are streams.
func (p *pump) take() (joins []*join, some bool) {
	p.s.mu.Lock()
	joins, p.s.joins = p.s.joins, nil
	gone := p.s.gone
	p.s.gone = nil
	some = len(p.s.streams) > 0
	p.s.mu.Unlock()
	for _, st := range gone {
		for _, m := range st.members {
			p.drop(m)
		}
	}
	return joins, some
}

// leave ends the pump, unless somebody has come meanwhile.
func (p *pump) leave(must bool) bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if !must && (len(p.s.streams) > 0 || len(p.s.joins) > 0) {
		return false
	}
	for _, j := range p.s.joins {
		j.err = fault.New(fault.Unavailable, "", "The site is being closed")
		close(j.done)
	}
	p.s.joins, p.s.pump = nil, nil
	return true
}

// drop takes a subscription out of what it is in.
func (p *pump) drop(m *member) {
	if g := m.group; g != nil {
		if delete(g.members, m); len(g.members) == 0 {
			delete(p.groups, g.key)
		}
		m.group = nil
	}
	if of := p.topics[m.topic]; of != nil {
		if delete(of, m); len(of) == 0 {
			delete(p.topics, m.topic)
		}
	}
}

// round looks at what has changed and tells it.
func (p *pump) round(joins []*join) {
	if p.s.c.Retired() {
		p.s.endAll()
	}
	err := p.tell(joins)
	for _, j := range joins {
		select {
		case <-j.done:
		default:
			j.err = err
			if err == nil {
				j.err = errors.New("live: a stream was not taken")
			}
			close(j.done)
		}
	}
	if err != nil && p.ctx.Err() == nil && !p.failing {
		p.s.c.Logger.Error("look for changes that are followed; it is tried again", slog.Any("error", err))
	}
	p.failing = err != nil
	p.beats()
}

func (p *pump) tell(joins []*join) error {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	now := time.Now()
	if err := p.follow(ctx, now); err != nil {
		return err
	}
	found, err := p.s.c.Log.Changes(ctx, p.at)
	restored := errors.Is(err, document.ErrNoPosition)
	if restored {
		found, err = p.s.c.Log.Changes(ctx, "")
		found.TooMany = true
	}
	if err != nil {
		return err
	}
	rights := found.Versions != p.versions // or nothing was known yet
	check := now.Sub(p.checked) >= checkFor
	all := p.settled(now)
	if restored {
		p.followed = time.Time{} // what said so may be gone, too
	}
	moved := map[*member]map[string]uint64{} // what members were shown by the groups they have left
	var differences map[*group]*difference
	for try := 0; ; try++ {
		if rights {
			p.s.c.Forget()
			p.s.c.Refresh(ctx)
		}
		if rights || check {
			p.checked = now
			p.again(ctx, moved)
		}
		if differences, err = p.look(ctx, found, all, moved); err != nil {
			return err
		}
		// What was read must have been readable when it was: nothing that decides about
		// rights has changed from before to after.
		after, err := p.s.c.Store.Versions(ctx)
		if err != nil {
			return err
		}
		if after == found.Versions {
			break
		}
		if try == most { // what was read may be more than somebody may see now
			return errors.New("live: rights change faster than they can be looked at")
		}
		found.Versions, rights = after, true
	}
	p.at, p.versions = found.Position, found.Versions
	p.apply(differences, moved)
	p.messages(found)
	for _, st := range p.s.all() {
		if len(st.members) > 0 && st.waits() {
			st.mark(p.position(st), false)
		}
	}
	for _, j := range joins {
		j.err = p.admit(ctx, j)
		close(j.done)
	}
	return nil
}

// follow says that somebody follows what is changed.
func (p *pump) follow(ctx context.Context, now time.Time) error {
	if now.Sub(p.followed) < followFor {
		return nil
	}
	if err := p.s.c.Log.Follow(ctx, now.Add(keep)); err != nil {
		return err
	}
	if p.followed.IsZero() {
		p.began = now
		for _, d := range settles {
			p.settle = append(p.settle, now.Add(d))
		}
	}
	p.followed = now
	return p.s.c.Log.SweepChanges(ctx, now.Add(-keep))
}

// settled reports whether everything is to be looked at once more.
func (p *pump) settled(now time.Time) bool {
	if len(p.settle) == 0 || now.Before(p.settle[0]) {
		return false
	}
	p.settle = p.settle[1:]
	return true
}

// look evaluates the groups of which something may have changed.
func (p *pump) look(ctx context.Context, found document.Changes, all bool, moved map[*member]map[string]uint64) (map[*group]*difference, error) {
	differences := map[*group]*difference{}
	reached := map[*group]bool{} // by members who have come from others
	for m := range moved {
		reached[m.group] = true
	}
	for _, g := range p.groups {
		w := g.concerns(found, all || reached[g])
		if w == nil {
			continue
		}
		d, err := p.s.evaluate(ctx, g, w)
		switch kind := fault.KindOf(err); {
		case err == nil:
			differences[g] = d
		case kind == fault.Permission || kind == fault.NotFound || kind == fault.Validation:
			for m := range g.members {
				m.stream.end(denied(err))
			}
		default:
			return nil, err
		}
	}
	return differences, nil
}

// apply tells what was found.
func (p *pump) apply(differences map[*group]*difference, moved map[*member]map[string]uint64) {
	for g, d := range differences {
		g.apply(d)
		for m := range g.members {
			if _, elsewhere := moved[m]; !elsewhere {
				m.tell(g, d)
			}
		}
	}
	for m, before := range moved {
		if m.group == nil || m.stream.over() {
			continue
		}
		p.moved(m, before, differences[m.group])
	}
}

// moved tells a member what is different in the group to which other rights have
// brought it. All rows of that group were read.
func (p *pump) moved(m *member, before map[string]uint64, d *difference) {
	if d == nil {
		m.gap() // it could not be read
		return
	}
	told := &difference{changed: map[string][]byte{}}
	for name := range before {
		if _, is := d.rows[name]; !is {
			told.removed = append(told.removed, name)
		}
	}
	for name, row := range d.rows {
		if was, had := before[name]; !had || was != p.s.sums.of(row) {
			told.changed[name] = row
		}
	}
	m.tell(m.group, told)
}

// messages tells what was published to topics. Who may not hear a topic any more does
// not.
func (p *pump) messages(found document.Changes) {
	for _, c := range found.List {
		if c.DocType != "" {
			continue
		}
		may := map[*identity.Caller]bool{}
		for m := range p.topics[c.Name] {
			caller := m.stream.caller
			if c.For != "" && c.For != caller.User || m.stream.over() {
				continue
			}
			ok, asked := may[caller]
			if !asked {
				_, err := p.s.c.Methods().Hears(c.Name, caller)
				ok = err == nil
				may[caller] = ok
			}
			if ok {
				m.message(c.Data)
			}
		}
	}
	if found.TooMany {
		for _, of := range p.topics {
			for m := range of {
				m.gap()
			}
		}
	}
}

// again finds out anew whom the streams are from and what they may see. Streams of one
// credential are asked once.
func (p *pump) again(ctx context.Context, moved map[*member]map[string]uint64) {
	type answer struct {
		caller *identity.Caller
		err    error
	}
	known := map[string]answer{}
	for _, st := range p.s.all() {
		if st.over() || len(st.members) == 0 {
			continue
		}
		a, asked := known[st.creds]
		if !asked {
			a.caller, a.err = st.again(ctx, st.request)
			known[st.creds] = a
		}
		switch {
		case a.err != nil:
			if fault.KindOf(a.err) == fault.Authentication || fault.KindOf(a.err) == fault.Permission {
				st.end(denied(a.err))
			} else { // it cannot be known: who comes again is asked
				st.end(fault.New(fault.Unavailable, "", "Credentials cannot be checked at the moment"))
			}
			p.forget(st)
			continue
		case a.caller.User != st.caller.User:
			st.end(fault.New(fault.Authentication, "", "The session has ended"))
			p.forget(st)
			continue
		}
		st.caller = a.caller
		for _, m := range st.members {
			if err := p.place(ctx, m, moved); err != nil {
				st.end(denied(err))
				p.forget(st)
				break
			}
		}
	}
}

// forget has a stream that is about to end be told nothing more.
func (p *pump) forget(st *Stream) {
	for _, m := range st.members {
		p.drop(m)
	}
}

// admit takes a stream in.
func (p *pump) admit(ctx context.Context, j *join) error {
	st := j.stream
	if st.over() {
		return context.Canceled
	}
	// What the request was let in with may have changed since.
	caller, err := st.again(ctx, st.request)
	if err != nil {
		return err
	}
	if caller.User != st.caller.User {
		return fault.New(fault.Authentication, "", "The session has ended")
	}
	st.caller = caller
	for _, a := range j.asked {
		m := &member{stream: st, asked: a, id: quote(a.ID)}
		st.members = append(st.members, m)
		if err := p.place(ctx, m, nil); err != nil {
			p.forget(st)
			return err
		}
	}
	for _, m := range st.members {
		if g := m.group; g != nil && g.fresh {
			d, err := p.s.evaluate(ctx, g, &what{all: true})
			if err != nil {
				p.forget(st)
				return err
			}
			g.apply(d)
		}
	}
	id := p.position(st)
	ready := append([]byte("event: ready\ndata: {\"subscriptions\":["), st.members[0].id...)
	for _, m := range st.members[1:] {
		ready = append(append(ready, ','), m.id...)
	}
	st.send(append(ready, "]}\n\n"...), false)
	if st.resume != "" {
		p.resume(ctx, st)
	}
	st.mark(id, true)
	return nil
}

// position is where a stream is.
func (p *pump) position(st *Stream) string {
	return position{at: time.Now(), schema: p.versions.Schema, asks: sumOf(st.members), of: p.at, lineage: p.s.c.Lineage}.String()
}

// beats tells something to those to whom nothing was told for a while, so that
// connections stay open, and positions do not get old.
func (p *pump) beats() {
	now, every := time.Now(), p.s.c.Process.c.Heartbeat
	if now.Sub(p.beat) < every/4 || p.at == "" {
		return
	}
	p.beat = now
	for _, st := range p.s.all() {
		if len(st.members) > 0 && st.idle(now, every) {
			st.mark(p.position(st), true)
		}
	}
}
