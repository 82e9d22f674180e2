package auth

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

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

// throttle counts wrong passwords by user and by address, in the database, so
// that servers which share it count together. Its table is no DocType of the
// schema: no request can name it.
type throttle struct{ dt *document.DocType }

// Install makes the table of failed logins. It is run once as a site is opened,
// before anybody logs in.
func (s *Service) Install(ctx context.Context) error {
	dt, err := document.Define(document.Definition{
		Name: "Login Failure", Table: "armature_login_failure",
		Fields: []document.FieldDefinition{
			{Name: "count", Type: "Int"},
			{Name: "since", Type: "Int", Indexed: 1},
		},
	})
	if err != nil {
		return err
	}
	s.throttle.dt = dt
	err = s.store.Write(ctx, document.Alone, func(tx document.Tx) error { return tx.Migrate(ctx, dt) })
	if err != nil {
		return fmt.Errorf("table of failed logins: %w", err)
	}
	return nil
}

// culprits are the two names under which a failure counts. They are hashes: what
// was typed in as a user's name may be a password. An IPv6 network counts as one
// address, since whoever has one has all of its addresses.
func (s *Service) culprits(user string, from Origin) [2]string {
	address := from.Address
	if ip, err := netip.ParseAddr(address); err == nil {
		ip = ip.Unmap().WithZone("")
		if address = ip.String(); ip.Is6() {
			if network, err := ip.Prefix(64); err == nil {
				address = network.String()
			}
		}
	}
	return [2]string{
		hex.EncodeToString(s.secret.MAC("login user", user)),
		hex.EncodeToString(s.secret.MAC("login address", address)),
	}
}

// window is the failures of one culprit from the first one on.
type window struct {
	count int64
	since int64 // milliseconds
}

func (s *Service) interval() time.Duration {
	return time.Duration(min(s.number(intervalSetting, defaultInterval), 365*24*3600)) * time.Second
}

// open reports whether the window still counts.
func (s *Service) open(w window) bool {
	return w.count > 0 && s.now().UnixMilli()-w.since < s.interval().Milliseconds()
}

// checkLocked refuses, before anything is hashed, whoever has failed more often
// than allowed within the interval (SecurityException).
func (s *Service) checkLocked(ctx context.Context, names [2]string) error {
	dt := s.throttle.dt
	sel := &document.Select{
		DocType: dt,
		Columns: columns(dt, "count", "since"),
		Where:   document.Compare{Operand: document.Operand{Field: dt.Field("name")}, Op: query.In, Value: []any{names[0], names[1]}},
	}
	most, until := s.number(attemptsSetting, defaultAttempts), int64(0)
	err := s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, sel, func(v []any) error {
			var w window
			w.count, _ = v[0].(int64)
			w.since, _ = v[1].(int64)
			if s.open(w) && w.count > most {
				until = max(until, w.since+s.interval().Milliseconds())
			}
			return nil
		})
	})
	if err != nil {
		return failed(err)
	}
	if until == 0 {
		return nil
	}
	wait := (until - s.now().UnixMilli() + 999) / 1000
	return fault.Wrap(fault.TooManyRequests, "SecurityException", lockedError(wait),
		"Your account has been locked and will resume after %d seconds", wait)
}

// lockedError is the number of seconds that somebody is locked out for.
type lockedError int64

func (e lockedError) Error() string { return "too many failed logins" }

// SetHeaders tells the client when to come back.
func (e lockedError) SetHeaders(h http.Header) { h.Set("Retry-After", strconv.FormatInt(int64(e), 10)) }

// countFailure adds a failure to both culprits. Every transaction takes them in
// the same order, the user before the address, so none waits for the other in a
// circle.
func (s *Service) countFailure(ctx context.Context, tx document.Tx, names [2]string) error {
	for _, name := range names {
		if err := s.change(ctx, tx, name, func(w window) window { w.count++; return w }); err != nil {
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
	err := s.change(ctx, tx, names[0], func(w window) window {
		own = w.count
		return window{}
	})
	if err != nil || own == 0 {
		return err
	}
	return s.change(ctx, tx, names[1], func(w window) window {
		w.count = max(w.count-own, 0)
		return w
	})
}

// change stores another count. A window that is over begins anew.
func (s *Service) change(ctx context.Context, tx document.Tx, name string, next func(window) window) error {
	dt := s.throttle.dt
	doc, err := tx.Get(ctx, s.catalog.Schema(), dt, name, true)
	missing := fault.KindOf(err) == fault.NotFound
	if err != nil && !missing {
		return err
	}
	var w window
	if !missing {
		w = window{doc.Int("count"), doc.Int("since")}
	}
	if !s.open(w) {
		w = window{since: s.now().UnixMilli()}
	}
	w = next(w)
	if w.count > 0 {
		return s.putWindow(ctx, tx, name, w, missing)
	}
	if missing {
		return nil
	}
	_, err = tx.Delete(ctx, s.catalog.Schema(), dt, name)
	return err
}

func (s *Service) putWindow(ctx context.Context, tx document.Tx, name string, w window, missing bool) error {
	values := map[string]any{"count": w.count, "since": w.since}
	if missing {
		return s.insert(ctx, tx, s.throttle.dt, name, identity.Administrator, values)
	}
	_, err := tx.UpdateIf(ctx, s.throttle.dt, name, map[string]any{}, values)
	return err
}

// sweepFailures clears away counts whose window is over.
func (s *Service) sweepFailures(ctx context.Context, tx document.Tx) error {
	dt := s.throttle.dt
	return s.sweep(ctx, tx, &document.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where: document.Compare{
			Operand: document.Operand{Field: dt.Field("since")}, Op: query.Lt,
			Value: s.now().Add(-s.interval()).UnixMilli(),
		},
		Length: maxSwept,
	})
}
