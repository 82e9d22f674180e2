// Package notice gathers what a request tells its user beside its answer: the
// messages of the key _server_messages that are no errors (reference, section 3).
package notice

import (
	"context"
	"strconv"
)

// Notice is one message. Text is markup that is safe to show, Title plain text and
// may be empty, Indicator one of Indicators.
type Notice struct {
	Text      string
	Title     string
	Indicator string
}

// Indicators are the colours in which clients show a message. The first is that of
// one that names none.
var Indicators = []string{"blue", "green", "orange", "red", "yellow", "gray"}

// How much one request tells.
const (
	MaxNotices = 50
	MaxBytes   = 64 << 10
)

// List is what a request has told so far. It belongs to the goroutine of the
// request.
type List struct {
	notices []Notice
	bytes   int
	dropped int
}

type key struct{}

// With returns a context in which Of finds the list. A request that runs again
// takes a new one, so that nothing is told twice.
func With(ctx context.Context, l *List) context.Context { return context.WithValue(ctx, key{}, l) }

// Of is the list of a context; nil where nobody listens.
func Of(ctx context.Context) *List {
	l, _ := ctx.Value(key{}).(*List)
	return l
}

// Add tells one more thing. What goes beyond the bounds is counted and left out. A
// nil list tells nobody.
func (l *List) Add(n Notice) {
	if l == nil {
		return
	}
	if size := len(n.Text) + len(n.Title); l.dropped > 0 || len(l.notices) >= MaxNotices || l.bytes+size > MaxBytes {
		l.dropped++
	} else {
		l.notices, l.bytes = append(l.notices, n), l.bytes+size
	}
}

// Mark is how much was told so far, for Back.
type Mark struct{ notices, bytes, dropped int }

// Mark says where the list stands.
func (l *List) Mark() Mark {
	if l == nil {
		return Mark{}
	}
	return Mark{len(l.notices), l.bytes, l.dropped}
}

// Back takes back what was told since the mark: what it was about was undone.
func (l *List) Back(m Mark) {
	if l != nil {
		l.notices, l.bytes, l.dropped = l.notices[:m.notices], m.bytes, m.dropped
	}
}

// All lists what was told, in its order, and how much more there was.
func (l *List) All() []Notice {
	if l == nil || l.dropped == 0 {
		return l.kept()
	}
	return append(l.notices[:len(l.notices):len(l.notices)],
		Notice{Text: "and " + strconv.Itoa(l.dropped) + " more", Indicator: Indicators[0]})
}

func (l *List) kept() []Notice {
	if l == nil {
		return nil
	}
	return l.notices
}
