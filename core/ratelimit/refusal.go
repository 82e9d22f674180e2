package ratelimit

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"armature/core/fault"
)

// Refusal is the cause of every fault of this package that ends a request. It
// knows the headers of the answer, wherever the fault came up.
type Refusal struct {
	// Retry is how long to wait: whole seconds, at least one.
	Retry time.Duration

	limit string // microseconds of the spent budget; empty: calls were counted
}

// Error tells the log when the next try is of use.
func (r *Refusal) Error() string { return "retry after " + r.Retry.String() }

// SetHeaders sets Retry-After, and the headers of the budget that was spent in
// place of those of the site's.
func (r *Refusal) SetHeaders(h http.Header) {
	seconds := strconv.FormatInt(int64(r.Retry/time.Second), 10)
	h.Set(headerRetry, seconds)
	if r.limit == "" {
		return
	}
	h.Set(headerLimit, r.limit)
	h.Set(headerRemaining, "0")
	h.Set(headerReset, seconds)
}

func setRefusal(h http.Header, err error) {
	var r *Refusal
	if errors.As(err, &r) {
		r.SetHeaders(h)
	}
}

// refusal is the fault of a spent budget.
func (st standing) refusal(message string) error {
	r := &Refusal{Retry: time.Duration(st.reset) * time.Second, limit: st.budget.text}
	return refused(message, r)
}

func refused(message string, r *Refusal) error {
	return fault.Wrap(fault.TooManyRequests, "", r, "%s. Try again in %s.", message, r.Retry)
}
