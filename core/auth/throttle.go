package auth

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// The settings of the lockout and what holds without them.
const (
	attemptsSetting = "allow_consecutive_login_attempts"
	intervalSetting = "allow_login_after_fail" // seconds
	defaultAttempts = 10
	defaultInterval = 60
)

// tally counts what somebody may do only so often, in the database, so that
// servers which share it count together. Its table is no DocType of the schema:
// no request can name it.
type tally struct {
	s     *Service
	dt    *doctype.DocType
	lasts func() time.Duration // from the first count to forgetting all
}

// newTally makes the table of a tally.
func newTally(name, table string) *doctype.DocType {
	return private(name, table, []doctype.FieldDefinition{
		{Name: "count", Type: "Int"},
		{Name: "since", Type: "Int", Indexed: 1},
	})
}

// Tables are the tables of this package that belong to no DocType of the schema,
// so that no request can name them. Whoever opens a site makes them.
func Tables() []*doctype.DocType {
	t := tables()
	return []*doctype.DocType{t.failures, t.resets, t.wishes, t.factors, t.recovery, t.browsers, t.codes, t.passkeys, t.spent, t.signUps, t.loginCodes, t.keys, t.addresses}
}

// tables are the same for every site.
var tables = sync.OnceValue(func() (t struct{ failures, resets, wishes, factors, recovery, browsers, codes, passkeys, spent, signUps, loginCodes, keys, addresses *doctype.DocType }) {
	t.failures = newTally("Login Failure", "armature_login_failure")
	t.resets = private("Password Reset", "armature_password_reset", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
		{Name: "expires", Type: "Int", Indexed: 1}, // seconds
		{Name: "mailed", Type: "Check"},            // to the user's address, which whoever has it can read
	})
	t.wishes = newTally("Password Reset Wish", "armature_password_reset_wish")
	t.factors, t.recovery, t.browsers = factorTables()
	t.passkeys, t.spent = passkeyTables()
	t.signUps, t.loginCodes = signUpTable(), loginCodeTable()
	t.keys = keyTable()
	t.addresses = addressChangeTable()
	t.codes = newTally("Wrong Code", "armature_wrong_code")
	return t
})

func private(name, table string, fields []doctype.FieldDefinition) *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{Name: name, Table: table, Fields: fields})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
}

// Network is the address that what comes from there is counted under.
func (o Remote) Network() string { return network(o.Address) }

// network is the address that things are counted under. An IPv6 network counts
// as one address, since whoever has one has all of its addresses.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if network, err := ip.Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}

// culprits are the two names under which a failure counts. They are hashes: what
// was typed in as a user's name may be a password.
func (s *Service) culprits(user string, from Remote) [2]string {
	return [2]string{
		hex.EncodeToString(s.secret.MAC("login user", user)),
		hex.EncodeToString(s.secret.MAC("login address", network(from.Address))),
	}
}

// window is the counts under one name from the first one on.
type window struct {
	count int64
	since int64 // milliseconds
}

func (s *Service) interval() time.Duration {
	return time.Duration(min(s.number(intervalSetting, defaultInterval), 365*24*3600)) * time.Second
}

// open reports whether the window still counts.
func (t *tally) open(w window) bool {
	return w.count > 0 && t.s.now().UnixMilli()-w.since < t.lasts().Milliseconds()
}

// over returns the moment (milliseconds) until which one of the names has
// counted more than most; 0 when none has.
func (t *tally) over(ctx context.Context, most int64, names ...string) (until int64, err error) {
	sel := &doctype.Select{
		DocType: t.dt,
		Columns: columns(t.dt, "count", "since"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: t.dt.Field("name")}, Op: query.In, Value: anys(names)},
	}
	err = t.s.store.Read(ctx, func(tx document.Tx) error {
		until = 0
		return tx.Rows(ctx, sel, func(v []any) error {
			var w window
			w.count, _ = v[0].(int64)
			w.since, _ = v[1].(int64)
			if t.open(w) && w.count > most {
				until = max(until, w.since+t.lasts().Milliseconds())
			}
			return nil
		})
	})
	return until, err
}

func anys(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// checkLocked refuses, before anything is hashed, whoever has failed more often
// than allowed within the interval (TooManyRequests).
func (s *Service) checkLocked(ctx context.Context, names [2]string) error {
	until, err := s.failures.over(ctx, s.number(attemptsSetting, defaultAttempts), names[:]...)
	if err != nil {
		return failed(err)
	}
	if until == 0 {
		return nil
	}
	wait := s.untilThen(until)
	return fault.Wrap(fault.TooManyRequests, "", lockedError(wait),
		"Your account has been locked and will resume after %d seconds", wait)
}

// untilThen is how many seconds there are until a moment, at least one.
func (s *Service) untilThen(moment int64) int64 {
	return max((moment-s.now().UnixMilli()+999)/1000, 1)
}

// lockedError is the number of seconds that somebody is locked out for.
type lockedError int64

func (e lockedError) Error() string { return "too many tries" }

// SetHeaders tells the client when to come back.
func (e lockedError) SetHeaders(h http.Header) { h.Set("Retry-After", strconv.FormatInt(int64(e), 10)) }

// add counts one more under each name. Every transaction takes them in the order
// given, so none waits for the other in a circle.
func (t *tally) add(ctx context.Context, tx document.Tx, names ...string) error {
	for _, name := range names {
		if err := t.change(ctx, tx, name, func(w window) window { w.count++; return w }); err != nil {
			return err
		}
	}
	return nil
}

// forgive takes the failures of a user back who has shown to be the user: all of
// the user's, and as many of the address. Those that the address made as others
// stay, or else whoever has an account could guess without end.
func (s *Service) forgive(ctx context.Context, tx document.Tx, names [2]string) error {
	var own int64
	err := s.failures.change(ctx, tx, names[0], func(w window) window {
		own = w.count
		return window{}
	})
	if err != nil || own == 0 {
		return err
	}
	return s.failures.change(ctx, tx, names[1], func(w window) window {
		w.count = max(w.count-own, 0)
		return w
	})
}

// change stores another count.
func (t *tally) change(ctx context.Context, tx document.Tx, name string, next func(window) window) error {
	w, missing, err := t.locked(ctx, tx, name)
	if err != nil {
		return err
	}
	w = next(w)
	if w.count > 0 {
		return t.put(ctx, tx, name, w, missing)
	}
	if missing {
		return nil
	}
	_, err = tx.Delete(ctx, t.s.catalog.Schema(), t.dt, name)
	return err
}

// locked reads the counts under a name and locks them. A window that is over is a
// new one; missing is whether there is no row.
func (t *tally) locked(ctx context.Context, tx document.Tx, name string) (w window, missing bool, err error) {
	doc, err := tx.Get(ctx, t.s.catalog.Schema(), t.dt, name, true)
	missing = fault.KindOf(err) == fault.NotFound
	if err != nil && !missing {
		return w, missing, err
	}
	if !missing {
		w = window{doc.Int("count"), doc.Int("since")}
	}
	if !t.open(w) {
		w = window{since: t.s.now().UnixMilli()}
	}
	return w, missing, nil
}

func (t *tally) put(ctx context.Context, tx document.Tx, name string, w window, missing bool) error {
	values := map[string]any{"count": w.count, "since": w.since}
	if missing {
		return t.s.insert(ctx, tx, t.dt, name, identity.Administrator, values)
	}
	_, err := tx.UpdateIf(ctx, t.dt, name, map[string]any{}, values)
	return err
}

// sweep clears away counts whose window is over.
func (t *tally) sweep(ctx context.Context, tx document.Tx) error {
	return t.s.sweep(ctx, tx, &doctype.Select{
		DocType: t.dt,
		Columns: columns(t.dt, "name"),
		Where: doctype.Compare{
			Operand: doctype.Operand{Field: t.dt.Field("since")}, Op: query.Lt,
			Value: t.s.now().Add(-t.lasts()).UnixMilli(),
		},
		Length: maxSwept,
	})
}
