package auth

import (
	"context"
	"strings"
	"sync"
	"time"

	"armature/core/document"
	"armature/core/identity"
)

// activityName is the DocType that keeps what happened to credentials.
const activityName = "Activity Log"

const (
	succeeded = "Success"
	refused   = "Failed"
)

// activity is one thing that happened. What was typed in as a user's name is
// never kept where there is no such user: it may be a password.
type activity struct {
	operation string // Login, Logout, Keys, Password, Roles
	status    string
	subject   string // empty: what the operation and the user say
	user      string // empty: nobody known
	by        string // empty: the user
	from      Origin
}

// record keeps an activity in the transaction of what it is about.
func (s *Service) record(ctx context.Context, tx document.Tx, a activity) error {
	dt := s.catalog.Schema().DocType(activityName)
	if dt == nil {
		return nil
	}
	user := a.user
	if user == "" {
		user = identity.Guest
	}
	if a.by == "" {
		a.by = user
	}
	if a.from == (Origin{}) {
		a.from = originOf(ctx)
	}
	if a.subject == "" {
		a.subject = a.operation + ": " + user
	}
	return s.insert(ctx, tx, dt, random(activityBytes), a.by, map[string]any{
		"subject": cut(a.subject, maxData), "operation": a.operation, "status": a.status, "user": user,
		"ip_address": a.from.Address, "user_agent": a.from.Agent,
	})
}

type originKey struct{}

// From says where a request came from. It is asked only when there is something
// to record.
type From interface{ Origin() Origin }

// WithOrigin makes a context whose activities are recorded as coming from there.
func WithOrigin(ctx context.Context, from From) context.Context {
	return context.WithValue(ctx, originKey{}, from)
}

func originOf(ctx context.Context) Origin {
	if from, ok := ctx.Value(originKey{}).(From); ok {
		return from.Origin().short()
	}
	return Origin{}
}

// short is the origin as it is stored: text of a bounded length.
func (o Origin) short() Origin {
	return Origin{Address: cut(o.Address, maxData), Agent: cut(strings.ToValidUTF8(o.Agent, ""), 4*maxData)}
}

const (
	// activityBytes is the length of a document's name before it is written in
	// hexadecimal.
	activityBytes = 10
	// maxData is how many bytes of text are kept.
	maxData = 140
)

// cut shortens text to at most n bytes, between two letters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}

// unknownEvery is how often a session that is none is recorded for one address:
// a write for every request would be a way to keep the database busy.
const unknownEvery = 10 * time.Minute

// maxStrangers bounds how many addresses are remembered for that.
const maxStrangers = 1000

// strangers is who has lately come with a session that is none.
type strangers struct {
	mu   sync.Mutex
	seen map[string]time.Time // by network
}

// first reports whether a network has not been seen lately.
func (s *strangers) first(network string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.seen[network]; ok && now.Sub(last) < unknownEvery {
		return false
	}
	if len(s.seen) >= maxStrangers || s.seen == nil {
		s.seen = map[string]time.Time{}
	}
	s.seen[network] = now
	return true
}

// recordUnknown records that somebody has come with a session that is none, or no
// more. A log that cannot be written to fails nobody's request.
func (s *Service) recordUnknown(ctx context.Context) {
	from := originOf(ctx)
	if from.Address == "" || !s.strangers.first(network(from.Address), s.now()) {
		return
	}
	_ = s.store.Write(ctx, document.Single, func(tx document.Tx) error {
		return s.record(ctx, tx, activity{operation: "Session", status: refused, subject: "Session: unknown or ended", from: from})
	})
}
