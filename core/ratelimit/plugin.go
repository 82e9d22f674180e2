package ratelimit

import (
	"context"
	"time"
)

// Allowed refuses a plugin that has used up its CPU time on this site with a
// RateLimitExceededError. Without a budget for it, it costs nothing.
func (l *Limiter) Allowed(ctx context.Context, plugin string) error {
	b := l.plan().plugin(plugin)
	if b == nil {
		return nil
	}
	if st := l.look(ctx, b, subject(plugin), l.site.Now()); st.remaining == 0 {
		return st.refusal("The plugin " + plugin + " has used up its processing time")
	}
	return nil
}

// Charge puts CPU time a plugin has used on its budget, in the window of now; also
// when ctx has ended, because the client has gone.
func (l *Limiter) Charge(ctx context.Context, plugin string, cpu time.Duration) {
	b := l.plan().plugin(plugin)
	if b == nil {
		return
	}
	c := charge{key: b.at(l.site.Now()).key + subject(plugin), budget: b}
	l.put(context.WithoutCancel(ctx), c, micros(cpu))
}

// plugin is the budget of a plugin; nil: unlimited.
func (p *plan) plugin(name string) *budget {
	if b, ok := p.plugins[name]; ok {
		return b
	}
	return p.plugins["*"]
}
