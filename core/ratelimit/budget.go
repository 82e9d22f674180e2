package ratelimit

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ulule/limiter/v3"
)

const (
	// slack is how long a counter outlives its window, for the requests that end
	// after it.
	slack = time.Minute

	// endless is a limit no counter reaches: limiter tells what remains of a
	// limit, so a counter is read as the limit less what remains. Redis scripts
	// count in doubles, which are exact up to here.
	endless = 1 << 53
)

// budget is so much processing time in every window, for each of those it is
// about.
type budget struct {
	limit  int64  // microseconds
	window int64  // microseconds
	text   string // limit, as its header says it
	zone   *time.Location
	prefix string // what its counters' keys begin with
	rate   limiter.Rate

	current atomic.Pointer[span] // the last one asked for, likely the next too
}

// newBudget makes the budget of a kind ("site", "user", ...) of a site.
func newBudget(site, kind string, limit, window time.Duration, zone *time.Location) *budget {
	b := &budget{
		limit: limit.Microseconds(), window: window.Microseconds(), zone: zone,
		rate: limiter.Rate{Period: window + slack, Limit: endless},
	}
	b.text = strconv.FormatInt(b.limit, 10)
	// The length of the window is in the key, so that a changed one does not
	// find the number of another.
	b.prefix = site + "|" + kind + "|" + strconv.FormatInt(b.window, 10) + "|"
	return b
}

// span is a stretch of time with one counter for each subject.
type span struct {
	start, end int64  // Unix microseconds; the end is no part of it
	key        string // of the counter; that of a subject is appended
}

// at returns the span now falls into.
func (b *budget) at(now time.Time) *span {
	t := now.UnixMicro()
	if s := b.current.Load(); s != nil && s.start <= t && t < s.end {
		return s
	}
	s := b.spanAt(now)
	b.current.Store(s)
	return s
}

// spanAt works out the span around now. Its window is numbered by the wall
// clock's seconds. Where the clock is set back the same numbers come twice, and
// where it is set forward a window is cut short: so a span also ends where the
// UTC offset changes, and its key carries the offset.
func (b *budget) spanAt(now time.Time) *span {
	local := now.In(b.zone)
	_, offset := local.Zone()
	t, shift := local.UnixMicro(), int64(offset)*1e6
	number := (t + shift) / b.window
	s := &span{start: number*b.window - shift}
	s.end = s.start + b.window
	s.start = max(s.start, changeBefore(local, s.start))
	s.end = min(s.end, changeAfter(local, s.end))

	key := make([]byte, 0, len(b.prefix)+32)
	key = append(key, b.prefix...)
	key = strconv.AppendInt(key, int64(offset), 10)
	key = append(key, '|')
	key = strconv.AppendInt(key, number, 10)
	s.key = string(append(key, '|'))
	return s
}

// changeBefore is when the UTC offset of t began, looking back no further than
// limit. Zones also begin without a change of the offset (a new name, a new
// law); those do not count.
func changeBefore(t time.Time, limit int64) int64 {
	_, offset := t.Zone()
	for {
		from, _ := t.ZoneBounds()
		if from.IsZero() || from.UnixMicro() <= limit {
			return limit
		}
		t = from.Add(-1)
		if _, other := t.Zone(); other != offset {
			return from.UnixMicro()
		}
	}
}

// changeAfter is when the UTC offset of t ends, looking no further than limit.
func changeAfter(t time.Time, limit int64) int64 {
	_, offset := t.Zone()
	for {
		_, until := t.ZoneBounds()
		if until.IsZero() || until.UnixMicro() >= limit {
			return limit
		}
		t = until
		if _, other := t.Zone(); other != offset {
			return until.UnixMicro()
		}
	}
}

// reset is the whole seconds from now until the counter is another; whoever
// waits them is in the next span.
func (s *span) reset(now time.Time) int64 {
	return (s.end - now.UnixMicro() + 1e6 - 1) / 1e6
}

// micros is a duration in the unit of counters, of which a started one counts.
func micros(d time.Duration) int64 {
	return max(0, int64((d+time.Microsecond-1)/time.Microsecond))
}
