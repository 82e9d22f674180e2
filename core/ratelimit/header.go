package ratelimit

import (
	"net/http"
	"strconv"
)

// The headers, in the form in which http.Header keeps them.
const (
	headerLimit     = "X-Ratelimit-Limit"     // microseconds
	headerRemaining = "X-Ratelimit-Remaining" // microseconds
	headerReset     = "X-Ratelimit-Reset"     // seconds
	headerUsed      = "X-Ratelimit-Used"      // microseconds
	headerRetry     = "Retry-After"           // seconds
)

// headerValues is the space of a request's header values, so that they need no
// slices of their own.
type headerValues [4]string

// standing sets the headers that tell how a budget stands as a request begins.
func (v *headerValues) standing(h http.Header, st standing) {
	v.set(h, 0, headerLimit, st.budget.text)
	v.set(h, 1, headerRemaining, strconv.FormatInt(st.remaining, 10))
	v.set(h, 2, headerReset, strconv.FormatInt(st.reset, 10))
}

func (v *headerValues) used(h http.Header, n int64) {
	v.set(h, 3, headerUsed, strconv.FormatInt(n, 10))
}

func (v *headerValues) set(h http.Header, i int, key, text string) {
	v[i] = text
	h[key] = v[i : i+1 : i+1]
}
