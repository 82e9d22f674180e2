package auth

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// sessionName is the DocType that keeps who is logged in. No role has a right
// on it, and a document's name is a keyed hash: who reads the table cannot act
// for anybody.
const sessionName = "Session"

const (
	// sessionBytes is the length of a session's id before it is written in
	// hexadecimal.
	sessionBytes = 32
	// sessionLife ends a session however much it is used.
	sessionLife = 30 * 24 * time.Hour
	// sessionIdle ends a session that is not used, unless the site sets
	// session_expiry.
	sessionIdle = 170 * time.Hour
	// touchEvery is how much later than the last noted use another one is noted:
	// a write for every request would cost more than the request.
	touchEvery = 5 * time.Minute
	// defaultSessions is how many sessions a user has at once who sets no number.
	defaultSessions = 2
	// maxSwept bounds how many dead rows a login clears away.
	maxSwept = 50
)

// Remote is where a request came from.
type Remote struct {
	Address string // without the port
	Agent   string // what the client says it is
}

// session is a row of the DocType.
type session struct {
	user     string
	lastUsed int64 // seconds, as are all times of sessions: a zone or the end of summer time does not move them
	expires  int64
	csrf     bool // a page has been given the session's CSRF token
	shown    evidence
}

// live reports whether the session still counts.
func (e session) live(now int64, idle time.Duration) bool {
	return now < e.expires && now-e.lastUsed < int64(idle/time.Second)
}

// lives is for how long the session counts if nobody uses it any more: its cookie
// lives as long.
func (e session) lives(now int64, idle time.Duration) time.Duration {
	return min(idle, time.Duration(e.expires-now)*time.Second)
}

// hashSession is the name of the document of a session. An id is 32 random
// bytes, so one round is enough.
func (s *Service) hashSession(id string) string {
	return hex.EncodeToString(s.secret.MAC("session", id))
}

// beginSession makes a session with a new id, which nobody has known before:
// what a client brought along never becomes a session's id. The user's document
// is locked by the transaction.
func (s *Service) beginSession(ctx context.Context, tx document.Tx, user *doctype.Document, from Remote, shown evidence) (id string, err error) {
	dt, err := s.docType(sessionName)
	if err != nil {
		return "", err
	}
	if err := s.makeRoom(ctx, tx, dt, user); err != nil {
		return "", err
	}
	id = random(sessionBytes)
	now := s.now()
	return id, s.insert(ctx, tx, dt, s.hashSession(id), user.Name(), map[string]any{
		"user": user.Name(), "last_used": now.Unix(), "expires": now.Add(sessionLife).Unix(),
		"address": from.Address, "user_agent": from.Agent, "amr": shown.text(), "second_factor": check(shown.factor),
	})
}

// makeRoom ends the user's oldest sessions, so that with one more there are not
// too many.
func (s *Service) makeRoom(ctx context.Context, tx document.Tx, dt *doctype.DocType, user *doctype.Document) error {
	names, err := s.sessionsOf(ctx, tx, dt, user.Name())
	if err != nil {
		return err
	}
	most := int(user.Int("simultaneous_sessions"))
	if most < 1 {
		most = defaultSessions
	}
	if s.flag("deny_multiple_sessions") {
		most = 1
	}
	if len(names) < most {
		return nil
	}
	return s.deleteSessions(ctx, tx, dt, names[most-1:])
}

// sessionsOf returns the names of a user's sessions, the last used first.
func (s *Service) sessionsOf(ctx context.Context, tx document.Tx, dt *doctype.DocType, user string) (names []string, err error) {
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where:   equals(dt, "user", user),
		Order: []doctype.OrderBy{
			{Operand: doctype.Operand{Field: dt.Field("last_used")}, Desc: true},
			{Operand: doctype.Operand{Field: dt.Field("creation")}, Desc: true},
		},
	}
	err = tx.Rows(ctx, sel, func(v []any) error {
		name, _ := v[0].(string)
		names = append(names, name)
		return nil
	})
	return names, err
}

func (s *Service) deleteSessions(ctx context.Context, tx document.Tx, dt *doctype.DocType, names []string) error {
	for _, name := range names {
		if _, err := tx.Delete(ctx, s.catalog.Schema(), dt, name); err != nil {
			return err
		}
	}
	return s.Changed(ctx, tx)
}

// EndSessions ends every session of a user.
func (s *Service) EndSessions(ctx context.Context, tx document.Tx, user string) error {
	return s.endSessions(ctx, tx, user, "")
}

// endSessions ends every session of a user but the one whose id is kept.
func (s *Service) endSessions(ctx context.Context, tx document.Tx, user, kept string) error {
	dt, err := s.docType(sessionName)
	if err != nil {
		return err
	}
	names, err := s.sessionsOf(ctx, tx, dt, user)
	if sessionID(kept) {
		stays := s.hashSession(kept)
		names = slices.DeleteFunc(names, func(name string) bool { return name == stays })
	}
	if err != nil || len(names) == 0 {
		return err
	}
	return s.deleteSessions(ctx, tx, dt, names)
}

// Logout ends one session. An id that is none ends nothing.
func (s *Service) Logout(ctx context.Context, id string, from Remote) error {
	if !sessionID(id) {
		return nil
	}
	dt, err := s.docType(sessionName)
	if err != nil {
		return err
	}
	name := s.hashSession(id)
	return s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, s.catalog.Schema(), dt, name, true)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.Record(ctx, tx, Activity{Operation: "Logout", User: doc.Text("user"), From: from}); err != nil {
			return err
		}
		return s.deleteSessions(ctx, tx, dt, []string{name})
	})
}

// readSession reads a session; nil when there is none of that name.
func (s *Service) readSession(ctx context.Context, name string) (found *session, err error) {
	dt, err := s.docType(sessionName)
	if err != nil {
		return nil, err
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "user", "last_used", "expires", "csrf_issued", "amr", "second_factor"),
		Where:   equals(dt, "name", name),
		Length:  1,
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, sel, func(v []any) error {
			found = &session{csrf: v[3] == int64(1)}
			found.user, _ = v[0].(string)
			found.lastUsed, _ = v[1].(int64)
			found.expires, _ = v[2].(int64)
			amr, _ := v[4].(string)
			found.shown = evidence{amr: strings.Fields(amr), factor: v[5] == int64(1)}
			return nil
		})
	})
	return found, err
}

// sweepSessions clears away sessions that are past their end.
func (s *Service) sweepSessions(ctx context.Context, tx document.Tx) error {
	dt, err := s.docType(sessionName)
	if err != nil {
		return err
	}
	dead := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field("expires")}, Op: query.Lt, Value: s.now().Unix()},
		Length:  maxSwept,
	}
	return s.sweep(ctx, tx, dead)
}

// sweep deletes what a list names. Nobody needs to hear of it.
func (s *Service) sweep(ctx context.Context, tx document.Tx, dead *doctype.Select) error {
	_, err := s.sweepRows(ctx, tx, dead)
	return err
}

// sweepRows is sweep, and returns how many there were.
func (s *Service) sweepRows(ctx context.Context, tx document.Tx, dead *doctype.Select) (int, error) {
	var names []string
	err := tx.Rows(ctx, dead, func(v []any) error {
		name, _ := v[0].(string)
		names = append(names, name)
		return nil
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(names) // in one order everywhere: two who sweep do not wait for each other
	for _, name := range names {
		if _, err := tx.Delete(ctx, s.catalog.Schema(), dead.DocType, name); err != nil {
			return 0, err
		}
	}
	return len(names), nil
}
