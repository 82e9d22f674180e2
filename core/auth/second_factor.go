package auth

import (
	"context"
	"strings"

	"armature/core/auth/otp"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// The settings of second factors. The field two_factor_auth of a Role demands one,
// too.
const (
	requireFactorSetting = "require_second_factor"
	everyTimeSetting     = "second_factor_every_time"
	rememberDaysSetting  = "remember_browser_days"
	defaultRememberDays  = 30
)

// The ways of showing who one is, as RFC 8176 section 2 names them.
const (
	byPassword = "pwd"
	byCode     = "otp"
	byTwo      = "mfa" // more than one of them
)

// evidence is what somebody who logs in has shown.
type evidence struct {
	amr    []string
	factor bool // what demands a second factor is content, be it with a browser that has shown one before
}

func (e evidence) text() string { return strings.Join(e.amr, " ") }

func check(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// factors is the tables of second factors. None is a DocType of the schema: no
// request, and no plugin, can name them.
type factors struct {
	dt       *doctype.DocType
	recovery *doctype.DocType
	browsers *doctype.DocType
	passkeys *doctype.DocType
	spent    *doctype.DocType // challenges of passkeys
	wrong    *tally
}

// totpKind is the kind of factor that is an authenticator app, of which a user has
// one.
const totpKind = "totp"

func factorTables() (factors, recovery, browsers *doctype.DocType) {
	factors = private("Second Factor", "armature_second_factor", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
		{Name: "kind", Type: "Data"},
		{Name: "secret", Type: "Long Text"}, // sealed for the row's name
		{Name: "used", Type: "Int"},         // the period of the last code
	})
	recovery = private("Recovery Code", "armature_recovery_code", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
	})
	browsers = private("Known Browser", "armature_known_browser", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
		{Name: "expires", Type: "Int", Indexed: 1}, // seconds
	})
	return factors, recovery, browsers
}

// needsFactor reports whether a user has to log in with a second factor.
func (s *Service) needsFactor(c *identity.Caller) bool {
	return c.NeedsFactor || s.flag(requireFactorSetting)
}

// totp is a user's authenticator app.
type totp struct {
	name   string // of the row
	secret string // sealed
	used   int64
	added  string
}

// sealPurpose is what the secret of a row is sealed for: it is worthless in the row
// of another user.
func (t *totp) sealPurpose() string { return "second factor " + t.name }

// Sealed lists the fields in which this package keeps secrets under the site's key, and
// what each is sealed for in the row of a name.
func Sealed() map[[2]string]func(name string) string {
	return map[[2]string]func(string) string{
		{"Second Factor", "secret"}: func(name string) string { return (&totp{name: name}).sealPurpose() },
	}
}

// totpOf reads a user's authenticator app; nil: there is none.
func (s *Service) totpOf(ctx context.Context, tx document.Tx, user string) (found *totp, err error) {
	dt := s.factors.dt
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name", "secret", "used", "creation"),
		Where:   doctype.AllOf{equals(dt, "user", user), equals(dt, "kind", totpKind)},
		Length:  1,
	}
	err = tx.Rows(ctx, sel, func(v []any) error {
		found = &totp{}
		found.name, _ = v[0].(string)
		found.secret, _ = v[1].(string)
		found.used, _ = v[2].(int64)
		found.added, _ = v[3].(string)
		return nil
	})
	return found, err
}

// namesOf returns the names of the rows of a user in one of the tables.
func (s *Service) namesOf(ctx context.Context, tx document.Tx, dt *doctype.DocType, user string) (names []string, err error) {
	sel := &doctype.Select{DocType: dt, Columns: columns(dt, "name"), Where: equals(dt, "user", user),
		Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("name")}}}}
	err = tx.Rows(ctx, sel, func(v []any) error {
		name, _ := v[0].(string)
		names = append(names, name)
		return nil
	})
	return names, err
}

// dropFactors deletes what a user has of the tables.
func (s *Service) dropFactors(ctx context.Context, tx document.Tx, user string, from ...*doctype.DocType) error {
	for _, dt := range from {
		names, err := s.namesOf(ctx, tx, dt, user)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, err := tx.Delete(ctx, s.catalog.Schema(), dt, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// ResetFactors takes a user's second factors, passkeys included, recovery codes and remembered browsers
// away and ends the sessions: for the operator, when a phone and the codes are lost.
// Where a factor is demanded the user sets another one up at the next login. It
// returns whether there was any factor. Errors: Permission for a caller who is not
// the platform itself: no role lets in who may take a factor away; Missing.
func (s *Service) ResetFactors(ctx context.Context, tx document.Tx, caller *identity.Caller, user string) (had bool, err error) {
	if caller.User != identity.Administrator || caller.Narrowed() {
		return false, fault.Denied("Only who runs the site may reset second factors")
	}
	if _, err := s.read(ctx, tx, user, true); err != nil {
		return false, err
	}
	if had, err = s.hasFactor(ctx, tx, user); err != nil {
		return false, err
	}
	if err := s.dropFactors(ctx, tx, user, s.factors.dt, s.factors.passkeys, s.factors.recovery, s.factors.browsers); err != nil {
		return false, err
	}
	if err := s.EndSessions(ctx, tx, user); err != nil {
		return false, err
	}
	if err := s.Changed(ctx, tx); err != nil {
		return false, err
	}
	act := Activity{Operation: factorActivity, User: user, Subject: "Second factors of " + user + " were reset"}
	return had, s.Record(ctx, tx, act.Did(caller))
}

// factorActivity is the operation under which the Activity Log has what happens to
// factors.
const factorActivity = "Second Factor"

// putRecoveryCodes gives a user new recovery codes in place of those there are.
func (s *Service) putRecoveryCodes(ctx context.Context, tx document.Tx, user string) ([]string, error) {
	if err := s.dropFactors(ctx, tx, user, s.factors.recovery); err != nil {
		return nil, err
	}
	codes := otp.NewRecoveryCodes()
	for i, code := range codes {
		if err := s.insert(ctx, tx, s.factors.recovery, s.hashRecovery(code), user, map[string]any{"user": user}); err != nil {
			return nil, err
		}
		codes[i] = otp.Shown(code)
	}
	return codes, nil
}
