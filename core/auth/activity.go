package auth

import (
	"context"
	"strings"

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
		a.from, _ = ctx.Value(originKey{}).(Origin)
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

// WithOrigin makes a context whose activities are recorded as coming from there.
func WithOrigin(ctx context.Context, from Origin) context.Context {
	return context.WithValue(ctx, originKey{}, from.short())
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
