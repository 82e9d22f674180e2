package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// OwnSession is a session as its user sees it.
type OwnSession struct {
	Name     string // by which it is ended; nobody can act by it
	Current  bool   // the one that asks
	Begun    int64  // seconds since 1970, as are the others
	LastUsed int64  // to five minutes
	Address  string // that it was begun from
	Agent    string // what the browser said it was
	Methods  []string
}

// Sessions lists those of a session's user that count, the last used first. Errors:
// Permission for whoever has no session.
func (s *Service) Sessions(ctx context.Context, b *Browser) (list []OwnSession, err error) {
	if b == nil {
		return nil, sessionNeeded()
	}
	dt, err := s.docType(sessionName)
	if err != nil {
		return nil, err
	}
	now, idle, current := s.now().Unix(), s.idle(), s.hashSession(b.Session)
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name", "last_used", "expires", "address", "user_agent", "amr"),
		Where:   equals(dt, "user", b.Caller.User),
		Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("last_used")}, Desc: true}, {Operand: doctype.Operand{Field: dt.Field("name")}}},
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		list = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			var e session
			e.lastUsed, _ = v[1].(int64)
			e.expires, _ = v[2].(int64)
			if !e.live(now, idle) {
				return nil
			}
			o := OwnSession{LastUsed: e.lastUsed, Begun: e.expires - int64(sessionLife/time.Second)}
			o.Name, _ = v[0].(string)
			o.Address, _ = v[3].(string)
			o.Agent, _ = v[4].(string)
			amr, _ := v[5].(string)
			o.Current, o.Methods = o.Name == current, strings.Fields(amr)
			list = append(list, o)
			return nil
		})
	})
	if err != nil {
		return nil, failed(err)
	}
	return list, nil
}

func sessionNeeded() error {
	return fault.Denied("Sessions are seen and ended by whoever is logged in")
}

// EndSession ends a session of the user of another one, by its name. Errors: Missing
// where the user has none of that name; Permission for whoever has no session.
func (s *Service) EndSession(ctx context.Context, b *Browser, name string, from Remote) error {
	return s.endOwn(ctx, b, from, func(names []string) ([]string, error) {
		if !slices.Contains(names, name) {
			return nil, fault.New(fault.NotFound, "", "There is no such session, or not any more")
		}
		return []string{name}, nil
	})
}

// EndOtherSessions ends every session of a user but the one that asks, and reports how
// many there were. Errors: Permission for whoever has no session.
func (s *Service) EndOtherSessions(ctx context.Context, b *Browser, from Remote) (ended int, err error) {
	err = s.endOwn(ctx, b, from, func(names []string) ([]string, error) {
		own := s.hashSession(b.Session)
		names = slices.DeleteFunc(names, func(name string) bool { return name == own })
		ended = len(names)
		return names, nil
	})
	return ended, err
}

// endOwn ends those of the user's sessions that which chooses.
func (s *Service) endOwn(ctx context.Context, b *Browser, from Remote, which func(names []string) ([]string, error)) error {
	if b == nil {
		return sessionNeeded()
	}
	dt, err := s.docType(sessionName)
	if err != nil {
		return err
	}
	user := b.Caller.User
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		all, err := s.sessionsOf(ctx, tx, dt, user)
		if err != nil {
			return err
		}
		names, err := which(all)
		if err != nil || len(names) == 0 {
			return err
		}
		if err := s.deleteSessions(ctx, tx, dt, names); err != nil {
			return err
		}
		act := Activity{Operation: "Logout", User: user, Subject: "Logout: " + user + " has ended another session", From: from.short()}
		if len(names) > 1 {
			act.Subject = "Logout: " + user + " has ended the other sessions"
		}
		return s.Record(ctx, tx, act)
	})
	if err != nil {
		return failed(err)
	}
	return nil
}

// OwnActivity is an entry of the Activity Log as the user sees it whom it is about.
type OwnActivity struct {
	Subject string
	Refused bool
	At      string // YYYY-MM-DD HH:MM:SS.ffffff in the site's zone
	Address string
	Agent   string
}

// maxActivities is how many entries of the log its user is shown.
const maxActivities = 50

// Activities lists what the Activity Log has about a user, the newest first: logins and
// what happened to passwords, factors, keys and applications; what agents called is not
// among it, which would leave no room for those. It is for the user's own
// eyes: whoever calls hands in the caller of a session.
func (s *Service) Activities(ctx context.Context, caller *identity.Caller) (list []OwnActivity, err error) {
	dt := s.catalog.Schema().DocType(activityName)
	if dt == nil {
		return nil, nil
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "subject", "status", "creation", "ip_address", "user_agent"),
		Where: doctype.AllOf{
			equals(dt, "user", caller.User),
			doctype.Compare{Operand: doctype.Operand{Field: dt.Field("operation")}, Op: query.Ne, Value: AgentCall},
		},
		Order:  []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}, Desc: true}, {Operand: doctype.Operand{Field: dt.Field("name")}}},
		Length: maxActivities,
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		list = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			text := func(i int) string { t, _ := v[i].(string); return t }
			list = append(list, OwnActivity{Subject: text(0), Refused: text(1) == Refused, At: text(2), Address: text(3), Agent: text(4)})
			return nil
		})
	})
	if err != nil {
		return nil, failed(err)
	}
	return list, nil
}
