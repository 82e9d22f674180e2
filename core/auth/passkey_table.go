package auth

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"armature/core/auth/passkey"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// maxPasskeys is how many passkeys a user has at most: each stands in the question of a
// second factor.
const maxPasskeys = 20

// passkeyTables are the passkeys, and the challenges that were answered and not yet too
// old to be: a challenge is sealed into the page that asks, and nothing is written
// before it is answered, or whoever opens the login page would fill a table.
func passkeyTables() (passkeys, spent *doctype.DocType) {
	passkeys = private("Passkey", "armature_passkey", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
		{Name: "title", Type: "Data"},
		{Name: "party", Type: "Data"},           // the id that browsers have bound it to
		{Name: "handle", Type: "Data"},          // of the user, base64url
		{Name: "credential", Type: "Long Text"}, // passkey.Key; no secret
		{Name: "alone", Type: "Check"},          // its authenticator makes sure that it is its owner
		{Name: "used", Type: "Int"},             // seconds; 0: never
		{Name: "blocked", Type: "Check"},        // its counter went back
	})
	spent = private("Spent Challenge", "armature_spent_challenge", []doctype.FieldDefinition{
		{Name: "expires", Type: "Int", Indexed: 1}, // seconds
	})
	return passkeys, spent
}

// keyRow is a passkey as it is kept.
type keyRow struct {
	name    string // passkey.Name
	user    string
	title   string
	party   string
	handle  []byte
	key     passkey.Key
	alone   bool
	used    int64
	blocked bool
	added   string
}

// passkeysOf reads a user's passkeys, the oldest first.
func (s *Service) passkeysOf(ctx context.Context, tx document.Tx, user string) ([]keyRow, error) {
	return s.passkeyRows(ctx, tx, equals(s.factors.passkeys, "user", user), maxPasskeys+1)
}

// passkeyNamed reads one; nil: there is none.
func (s *Service) passkeyNamed(ctx context.Context, tx document.Tx, name string) (*keyRow, error) {
	rows, err := s.passkeyRows(ctx, tx, equals(s.factors.passkeys, "name", name), 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func (s *Service) passkeyRows(ctx context.Context, tx document.Tx, where doctype.Where, most int) (rows []keyRow, err error) {
	dt := s.factors.passkeys
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name", "user", "title", "party", "handle", "credential", "alone", "used", "blocked", "creation"),
		Where:   where,
		Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}}, {Operand: doctype.Operand{Field: dt.Field("name")}}},
		Length:  most,
	}
	err = tx.Rows(ctx, sel, func(v []any) (err error) {
		text := func(i int) string { t, _ := v[i].(string); return t }
		r := keyRow{name: text(0), user: text(1), title: text(2), party: text(3), alone: v[6] == int64(1), blocked: v[8] == int64(1), added: text(9)}
		r.used, _ = v[7].(int64)
		if r.handle, err = base64.RawURLEncoding.DecodeString(text(4)); err != nil {
			return err
		}
		if r.key, err = passkey.Parse(text(5)); err != nil {
			return err
		}
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// usable are the keys of rows that a party can ask for.
func usable(rows []keyRow, party string) (keys []passkey.Key) {
	for _, r := range rows {
		if r.party == party && !r.blocked {
			keys = append(keys, r.key)
		}
	}
	return keys
}

// hasFactor reports whether a user has set up a second factor of any kind. A passkey
// that cannot be used any more counts: what its user wanted was not to be let in by the
// password alone.
func (s *Service) hasFactor(ctx context.Context, tx document.Tx, user string) (bool, error) {
	app, err := s.totpOf(ctx, tx, user)
	if err != nil || app != nil {
		return app != nil, err
	}
	names, err := s.namesOf(ctx, tx, s.factors.passkeys, user)
	return len(names) > 0, err
}

// PasskeyDomain is what passkeys are bound to where the site is as it is configured; empty:
// there are none there.
func (s *Service) PasskeyDomain(ctx context.Context) (string, error) {
	party, err := s.party(ctx, "", "")
	if fault.KindOf(err) == fault.Validation {
		return "", nil
	}
	return party.ID, err
}

// HasPasskeyAlone reports whether a user, whose document is locked, has a passkey of that
// domain that does in place of a password.
func (s *Service) HasPasskeyAlone(ctx context.Context, tx document.Tx, user, domain string) (bool, error) {
	rows, err := s.passkeysOf(ctx, tx, user)
	return domain != "" && slices.ContainsFunc(rows, func(r keyRow) bool { return r.alone && !r.blocked && r.party == domain }), err
}

// passkeysHere is what the site has of passkeys.
type passkeysHere struct {
	any   bool
	party string // of the oldest that is not of this device alone; empty: there is none
}

// passkeysOnSite looks that up, once until something changes.
func (s *Service) passkeysOnSite(ctx context.Context) (passkeysHere, error) {
	v, err := s.Remember(ctx, "passkeys of the site", func(ctx context.Context) (any, error) {
		var here passkeysHere
		dt := s.factors.passkeys
		err := s.store.Read(ctx, func(tx document.Tx) error {
			here = passkeysHere{}
			return tx.Rows(ctx, &doctype.Select{
				DocType: dt, Columns: columns(dt, "party"),
				Order:  []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}}, {Operand: doctype.Operand{Field: dt.Field("name")}}},
				Length: 50,
			}, func(v []any) error {
				party, _ := v[0].(string)
				here.any = true
				if here.party == "" && !passkey.Local(party) {
					here.party = party
				}
				return nil
			})
		})
		if err != nil {
			return nil, failed(err)
		}
		return here, nil
	})
	here, _ := v.(passkeysHere)
	return here, err
}

// sweepChallenges clears away challenges that nobody could answer again.
func (s *Service) sweepChallenges(ctx context.Context, tx document.Tx) error {
	dt := s.factors.spent
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field("expires")}, Op: query.Lt, Value: s.now().Unix()},
		Length:  maxSwept,
	})
}

// passkeyTitle is what a user calls a passkey.
func passkeyTitle(text string) string {
	text = strings.TrimSpace(oneLine(text))
	if text == "" {
		return "Passkey"
	}
	return cut(text, 60)
}

// passkeyCounts counts the passkeys of each party.
func (s *Service) passkeyCounts(ctx context.Context) (counts map[string]int, err error) {
	dt := s.factors.passkeys
	err = s.store.Read(ctx, func(tx document.Tx) error {
		counts = map[string]int{}
		return tx.Rows(ctx, &doctype.Select{DocType: dt, Columns: columns(dt, "party")}, func(v []any) error {
			party, _ := v[0].(string)
			counts[party]++
			return nil
		})
	})
	return counts, err
}
