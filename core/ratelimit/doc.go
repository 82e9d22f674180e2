// Package ratelimit keeps a site's requests within the processing time its
// configuration grants.
//
// A budget is so much processing time in every window. Windows are fixed: they
// are numbered by the site's wall clock, whatever the first request of one may
// be. A span is the stretch of real time in which one window number and one UTC
// offset hold; it has a counter of its own for everybody the budget is about. A
// charge is time put on a counter. A call limit counts calls instead of time, in
// windows that begin with the first call. A refusal is the fault that ends a
// request, a RateLimitExceededError (429).
//
// A Limiter belongs to one site, Counters to one process. A Decision accompanies
// one request:
//
//	d, err := limiter.Begin(ctx, header, arrived) // before any work
//	err = d.Admit(ctx, header, subject)           // once the caller is known
//	d.End(ctx, header, status, used)              // just before the first byte
//
// Every process counts its own charges in memory. With Redis it counts them
// there too, and the larger of both numbers decides; while Redis is away its own
// number decides alone.
package ratelimit
