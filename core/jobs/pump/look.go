package pump

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"armature/core/fault"
	"armature/core/jobs"
)

// How long after a look at a site that cannot be used, or from which nothing may leave,
// it is looked at again.
const (
	brokenFor = 30 * time.Second
	pausedFor = time.Minute
)

// missing reports whether there is no such site.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || fault.KindOf(err) == fault.NotFound && err != nil
}

// lookAtSites looks at one site after the other until the desk is closed.
func (p *Pump) lookAtSites(ctx context.Context) {
	for {
		site, m, ok := p.desk.take()
		if !ok {
			return
		}
		found, err := p.look(ctx, site, m)
		p.desk.done(site, found)
		if err != nil && ctx.Err() == nil {
			p.c.Logger.Error("hand over the jobs of a site", "site", site, "error", err)
		}
	}
}

// look hands over what is due of a site, and where its mark was read says when it is to
// be looked at again.
func (p *Pump) look(ctx context.Context, site string, m *mark) (found finding, err error) {
	q, release, err := p.c.Borrow(ctx, site)
	if missing(err) {
		if m == nil {
			return found, nil
		}
		return found, p.marks.remove(ctx, *m)
	}
	if err != nil {
		return found, errors.Join(err, p.later(ctx, m, brokenFor))
	}
	found.hold = release
	if q.Paused() {
		return found, p.later(ctx, m, pausedFor)
	}
	if err := q.Fire(ctx); err != nil {
		p.c.Logger.Error("do what is due by the clock", "site", site, "error", err)
	}
	due, next, err := q.Due(ctx, p.admit)
	if err != nil {
		return found, errors.Join(err, p.later(ctx, m, brokenFor))
	}
	if len(due) == 0 {
		found.next = next
		if m == nil {
			return found, nil
		}
		return found, p.marks.settle(ctx, *m, next)
	}
	found.keep, found.oldest = true, due[0].Due
	if len(due) < p.admit {
		found.next = next
	}
	if err := p.handOver(ctx, site, due); err != nil {
		return found, err
	}
	if !p.desk.counts(site, time.Now()) {
		return found, nil
	}
	n, err := q.Count(ctx)
	p.desk.counted(site, n)
	return found, err
}

// handOver gives river the tickets that it has not.
func (p *Pump) handOver(ctx context.Context, site string, due []jobs.Ticket) error {
	list := make([]ticket, len(due))
	for i, t := range due {
		list[i] = ticket{Site: site, Job: t.Job, Turn: t.Turn}
	}
	fresh := p.desk.fresh(site, list, time.Now())
	if len(fresh) == 0 {
		return nil
	}
	err := p.queue.insert(ctx, fresh)
	if err != nil {
		p.desk.crashed(site, fresh)
	}
	return err
}

// later has a site looked at in a while.
func (p *Pump) later(ctx context.Context, m *mark, d time.Duration) error {
	if m == nil {
		return nil
	}
	return p.marks.delay(ctx, *m, p.c.Now().Add(d))
}
