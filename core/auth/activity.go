package auth

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"armature/core/document"
	"armature/core/identity"
)

// activityName is the DocType that keeps what happened to credentials.
const activityName = "Activity Log"

// How an activity ended, as the Activity Log says it.
const (
	Succeeded = "Success"
	Refused   = "Failed"
)

// AgentCall is the operation of calls that agents make at the MCP server.
const AgentCall = "Agent"

// Activity is one thing that happened to what decides who may do what: logins,
// credentials, roles, permissions, applications, plugins. What was typed in as a
// user's name is never kept where there is no such user: it may be a password.
type Activity struct {
	Operation string // one or two words, by which entries are found: Login, Keys, Roles
	Status    string // Succeeded or Refused; empty: Succeeded
	Subject   string // a sentence for people; empty: the operation and the user
	User      string // whom it is about; empty: nobody known
	By        string // who did it; empty: the user
	Client    string // id of the OAuth client it was done through or to; empty: none
	Details   string // what else there is to know, at most 16 KiB; empty: nothing
	From      Remote // zero: where the request of the context came from
}

// Did says who did it: the user, and the application whose token was used. An
// activity that names a client already keeps it.
func (a Activity) Did(by *identity.Caller) Activity {
	a.By = by.User
	if a.Client == "" {
		a.Client = by.Client
	}
	return a
}

// Record writes an entry of the Activity Log in the transaction of what it is
// about: one is not kept without the other. It is for the platform alone, which
// decides what is worth an entry. Text that a client chose may be handed in as it
// is: here it is made one line of a bounded length. A site without the DocType keeps no log. Errors: those of
// the database.
func (s *Service) Record(ctx context.Context, tx document.Tx, a Activity) error {
	dt := s.catalog.Schema().DocType(activityName)
	if dt == nil {
		return nil
	}
	if a.User == "" {
		a.User = identity.Guest
	}
	if a.By == "" {
		a.By = a.User
	}
	if a.From == (Remote{}) {
		a.From = remoteOf(ctx)
	}
	if a.Subject == "" {
		a.Subject = a.Operation + ": " + a.User
	}
	if a.Status == "" {
		a.Status = Succeeded
	}
	from := a.From.short()
	return s.insert(ctx, tx, dt, random(activityBytes), a.By, map[string]any{
		"subject": cut(oneLine(a.Subject), maxData), "operation": cut(a.Operation, maxData), "status": a.Status, "user": a.User,
		"client": cut(a.Client, maxData), "ip_address": from.Address, "user_agent": from.Agent, "details": cut(strings.ToValidUTF8(a.Details, ""), maxDetails),
	})
}

// oneLine is text without what could make one entry look like two, or read other
// than it is written.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == unicode.ReplacementChar || unicode.Is(unicode.Cf, c):
			return -1
		case unicode.IsSpace(c):
			return ' '
		case !unicode.IsPrint(c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, ""))
}

type requestKey struct{}

// Request is a request as authentication knows it.
type Request interface {
	// Remote says where it came from. It is asked only when there is something to
	// record.
	Remote() Remote
	// Used is told that the request has prolonged its session, which lives so long
	// from now, and whose cookie should.
	Used(session string, lives time.Duration)
}

// WithRequest makes a context whose activities are recorded as coming from there.
func WithRequest(ctx context.Context, from Request) context.Context {
	return context.WithValue(ctx, requestKey{}, from)
}

// used tells the request of the context that its session lives on.
func used(ctx context.Context, session string, lives time.Duration) {
	if from, ok := ctx.Value(requestKey{}).(Request); ok {
		from.Used(session, lives)
	}
}

func remoteOf(ctx context.Context) Remote {
	if from, ok := ctx.Value(requestKey{}).(Request); ok {
		return from.Remote().short()
	}
	return Remote{}
}

// short is the origin as it is stored: text of a bounded length.
func (o Remote) short() Remote {
	return Remote{Address: cut(o.Address, maxData), Agent: cut(strings.ToValidUTF8(o.Agent, ""), 4*maxData)}
}

const (
	// activityBytes is the length of a document's name before it is written in
	// hexadecimal.
	activityBytes = 10
	// maxData is how many bytes of text are kept.
	maxData = 140
	// maxDetails is how many bytes of details are kept.
	maxDetails = 16 << 10
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
	from := remoteOf(ctx)
	if from.Address == "" || !s.strangers.first(network(from.Address), s.now()) {
		return
	}
	_ = s.store.Write(ctx, document.OneWrite, func(tx document.Tx) error {
		return s.Record(ctx, tx, Activity{Operation: "Session", Status: Refused, Subject: "Session: unknown or ended", From: from})
	})
}
