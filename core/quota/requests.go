package quota

import (
	"net/http"

	"armature/core/fault"
)

// Enter begins a request, which leave ends. Error: QuotaExceededError, with status
// 429 and Retry-After, where the server works on as many of the site's as it may.
func (m *Meter) Enter() error {
	n := m.requests.Add(1)
	if most := m.c.Quotas().Requests; most > 0 && n > most {
		m.requests.Add(-1)
		return fault.Wrap(fault.TooManyRequests, fault.QuotaExceeded, busy{}, "This site may have %d requests at a time, and has them; try again", most)
	}
	return nil
}

// Leave ends a request that Enter has admitted.
func (m *Meter) Leave() { m.requests.Add(-1) }

// busy is a site that works on as many requests as it may.
type busy struct{}

func (busy) Error() string { return "too many requests at a time" }

// SetHeaders tells the client when to come back: in a second.
func (busy) SetHeaders(h http.Header) { h.Set("Retry-After", "1") }
