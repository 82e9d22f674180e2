package ratelimit

import (
	"context"
	"net/http"
	"time"
)

// Decision accompanies one request from its arrival to its answer. One goroutine
// uses it at a time. A nil Decision is that of a site without limits: its methods
// do nothing.
type Decision struct {
	limiter *Limiter
	plan    *plan
	arrived time.Time
	refused bool
	ended   bool

	charges [6]charge // site, user, client, agent, method, and a method called by another way
	n       int
	values  headerValues
}

// Subject is who makes a request, and for what.
type Subject struct {
	User   string // "Guest" counts by address, lest one stranger spends the budget of all
	Client string // OAuth client of the credential; empty: none
	Agent  bool   // it is a message to the MCP server
	Method string // canonical dotted path; empty: the request calls none
	Verb   string
	IP     string // of the client, without port

	// Argument is a named argument of the call; it is asked only where a call
	// limit counts by one. nil: there are none.
	Argument func(name string) string
}

// Begin asks the site's budget, before any work is done for the request, and sets
// the headers that say how it stands. A RateLimitExceededError ends the request.
// The Decision is of use even then.
func (l *Limiter) Begin(ctx context.Context, h http.Header, arrived time.Time) (*Decision, error) {
	p := l.plan()
	if p.idle() {
		return nil, nil
	}
	d := &Decision{limiter: l, plan: p, arrived: arrived}
	if p.site == nil {
		return d, nil
	}
	st := l.look(ctx, p.site, "", arrived)
	d.values.standing(h, st)
	return d, d.enter(h, st, "The site has used up its processing time")
}

// Admit asks the budgets of the caller and the method, and counts the call where
// calls are limited. A RateLimitExceededError ends the
// request.
func (d *Decision) Admit(ctx context.Context, h http.Header, s Subject) error {
	if d == nil {
		return nil
	}
	if b := d.plan.user; b != nil && s.User != "" {
		if err := d.enter(h, d.look(ctx, b, s.userSubject()), "You have used up your processing time"); err != nil {
			return err
		}
	}
	if b := d.plan.client; b != nil && s.Client != "" {
		if err := d.enter(h, d.look(ctx, b, subject(s.Client)), "The client has used up its processing time"); err != nil {
			return err
		}
	}
	if b := d.plan.agents; b != nil && s.Agent {
		if err := d.enter(h, d.look(ctx, b, s.agentSubject()), "The agent has used up its processing time"); err != nil {
			return err
		}
	}
	if b, ok := d.plan.methods.find(s.Method); ok {
		if err := d.enter(h, d.look(ctx, b, ""), "The method has used up its processing time"); err != nil {
			return err
		}
	}
	return d.countCall(ctx, h, s)
}

// AdmitMethod asks the budget of a method that a request calls beside what it was
// admitted for, and counts the call where calls are limited. It is for one such method
// of a request. Errors are those of Admit.
func (d *Decision) AdmitMethod(ctx context.Context, h http.Header, s Subject) error {
	if d == nil {
		return nil
	}
	if b, ok := d.plan.methods.find(s.Method); ok && d.n < len(d.charges) {
		if err := d.enter(h, d.look(ctx, b, ""), "The method has used up its processing time"); err != nil {
			return err
		}
	}
	return d.countCall(ctx, h, s)
}

func (d *Decision) look(ctx context.Context, b *budget, subject string) standing {
	return d.limiter.look(ctx, b, subject, d.arrived)
}

// enter notes that the request is to be charged to a budget, or refuses it.
func (d *Decision) enter(h http.Header, st standing, message string) error {
	if st.remaining == 0 {
		return d.refuse(h, st.refusal(message))
	}
	d.charges[d.n] = st.charge
	d.n++
	return nil
}

func (d *Decision) refuse(h http.Header, err error) error {
	d.refused = true
	setRefusal(h, err)
	return err
}

// End says what the request used and charges it, just before the first byte of
// the answer, when used is the time since the request arrived. A refused request
// is not charged, nor is another whose answer is 429, so that what is on the
// counters is the sum of what the answers say. Only the first End counts.
func (d *Decision) End(ctx context.Context, h http.Header, status int, used time.Duration) {
	if d == nil || d.ended {
		return
	}
	d.ended = true
	if d.refused || status == http.StatusTooManyRequests {
		return
	}
	n := micros(used)
	if d.plan.site != nil {
		d.values.used(h, n)
	}
	for _, c := range d.charges[:d.n] {
		d.limiter.put(ctx, c, n)
	}
}
