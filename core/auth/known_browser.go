package auth

import (
	"context"
	"encoding/hex"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// KnownBrowser is what a browser keeps so that a user need not show a second factor
// there at each login. It replaces no password.
type KnownBrowser struct {
	Token string // 32 random bytes in hexadecimal; the site keeps a keyed hash
	Lives time.Duration
}

// BrowserCookie is the name of the cookie in which a browser keeps it for a user:
// people who share a browser do not push each other out.
func (s *Service) BrowserCookie(user string) string {
	return "known_" + hex.EncodeToString(s.secret.MAC("known browser of", user)[:8])
}

// Remembers reports whether browsers may be remembered.
func (s *Service) Remembers() bool { return !s.flag(everyTimeSetting) }

// rememberBrowser makes a browser known. What it brought along never becomes what it
// keeps: somebody else may know it.
func (s *Service) rememberBrowser(ctx context.Context, tx document.Tx, user string) (*KnownBrowser, error) {
	days := min(s.number(rememberDaysSetting, defaultRememberDays), 365)
	b := &KnownBrowser{Token: random(sessionBytes), Lives: time.Duration(days) * 24 * time.Hour}
	if err := s.sweepBrowsers(ctx, tx); err != nil {
		return nil, err
	}
	return b, s.insert(ctx, tx, s.factors.browsers, s.hashBrowser(b.Token), user, map[string]any{
		"user": user, "expires": s.now().Add(b.Lives).Unix(),
	})
}

// knowsBrowser reports whether a token is of a browser in which that user has shown a
// second factor.
func (s *Service) knowsBrowser(ctx context.Context, tx document.Tx, user, token string) (bool, error) {
	if !sessionID(token) || !s.Remembers() {
		return false, nil
	}
	row, err := tx.Get(ctx, s.catalog.Schema(), s.factors.browsers, s.hashBrowser(token), false)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return row.Text("user") == user && row.Int("expires") > s.now().Unix(), nil
}

func (s *Service) hashBrowser(token string) string {
	return hex.EncodeToString(s.secret.MAC("known browser", token))
}

// forgetBrowsers makes all browsers of a user unknown.
func (s *Service) forgetBrowsers(ctx context.Context, tx document.Tx, user string) error {
	return s.dropFactors(ctx, tx, user, s.factors.browsers)
}

// sweepBrowsers clears away what is past its time.
func (s *Service) sweepBrowsers(ctx context.Context, tx document.Tx) error {
	dt := s.factors.browsers
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field("expires")}, Op: query.Lt, Value: s.now().Unix()},
		Length:  maxSwept,
	})
}
