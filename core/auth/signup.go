package auth

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// The settings of signing up, and what holds without them.
const (
	signUpSetting     = "sign_up"
	signUpRoles       = "sign_up_roles"
	signUpHourSetting = "sign_up_letters_per_hour"
	defaultSignUpHour = 60
)

// How long the link of a letter works.
const (
	signUpLife     = 24 * time.Hour
	invitationLife = 7 * 24 * time.Hour
)

// signUpTable is the keys of letters by which people become users. Of a key the table
// keeps a keyed hash; it is no DocType of the schema.
func signUpTable() *doctype.DocType {
	return private("Sign Up", "armature_sign_up", []doctype.FieldDefinition{
		{Name: "email", Type: "Data"},
		{Name: "invitation", Type: "Data", Indexed: 1}, // name of the User Invitation; empty: somebody signs up
		{Name: "expires", Type: "Int", Indexed: 1},     // seconds
	})
}

// SignUp is a key that lets whoever has it become the user of an address: it goes to that
// address and nowhere else.
type SignUp struct {
	Email string
	Known bool   // there is such a user, and no key
	Key   string // goes into the link and nowhere else
	By    string // full name of who invites; empty: they have signed up
	First string // the name that the invitation has; may be empty
	Lives time.Duration
}

// SignsUp reports whether the site lets people become users by themselves.
func (s *Service) SignsUp() bool { return s.documents != nil && s.flag(signUpSetting) }

func noSignUp() error { return fault.Denied("Nobody signs up here by themselves") }

// AskSignUp counts somebody's wish to sign up and refuses those that are too many
// (TooManyRequests): for an address, of a network, of the site, so that nobody has the site
// fill anybody's mailbox. It does the same whether there is such a user or not: that is
// looked up by StartSignUp, after the answer. Errors: Permission where nobody may;
// Validation for what is no address.
func (s *Service) AskSignUp(ctx context.Context, typed string, from Remote) error {
	if !s.SignsUp() {
		return noSignUp()
	}
	email, err := cleanEmail(strings.TrimSpace(typed))
	if err != nil {
		return err
	}
	if strings.HasSuffix(email, pluginDomain) || len(email) > maxData {
		return fault.Invalid("InvalidEmailAddressError", "%s is no address", email)
	}
	most := s.number(resetLimitSetting, defaultResetLimit)
	name := func(of, what string) string { return hex.EncodeToString(s.secret.MAC("sign up "+of, what)) }
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		if err := s.wish(ctx, tx, name("address", email), most); err != nil {
			return err
		}
		if err := s.wish(ctx, tx, name("network", network(from.Address)), most*addressFactor); err != nil {
			return err
		}
		if err := s.wish(ctx, tx, name("site", ""), s.number(signUpHourSetting, defaultSignUpHour)); err != nil {
			return err
		}
		return s.resets.wishes.sweep(ctx, tx)
	})
	if err != nil {
		return failed(err)
	}
	return nil
}

// StartSignUp makes the key of a letter to an address; none where there is such a user,
// who is told that by the letter. Errors: those of AskSignUp.
func (s *Service) StartSignUp(ctx context.Context, typed string) (*SignUp, error) {
	if !s.SignsUp() {
		return nil, noSignUp()
	}
	email, err := cleanEmail(strings.TrimSpace(typed))
	if err != nil {
		return nil, err
	}
	up := &SignUp{Email: email, Key: random(resetBytes), Lives: signUpLife}
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		known, err := s.isUser(ctx, tx, email)
		if err != nil {
			return err
		}
		if known {
			up.Known, up.Key = true, ""
			return nil
		}
		if err := s.sweepSignUps(ctx, tx); err != nil {
			return err
		}
		return s.putSignUp(ctx, tx, up, "")
	})
	if err != nil {
		return nil, failed(err)
	}
	return up, nil
}

func (s *Service) putSignUp(ctx context.Context, tx document.Tx, up *SignUp, invitation string) error {
	return s.insert(ctx, tx, s.signUps, s.hashSignUp(up.Key), identity.Administrator, map[string]any{
		"email": up.Email, "invitation": invitation, "expires": s.now().Add(up.Lives).Unix(),
	})
}

// hashSignUp is the name of the row of a key, which is 32 random bytes: one round is
// enough.
func (s *Service) hashSignUp(key string) string {
	return hex.EncodeToString(s.secret.MAC("sign up", key))
}

// isUser reports whether there is a user of an address.
func (s *Service) isUser(ctx context.Context, tx document.Tx, email string) (bool, error) {
	return s.taken(ctx, tx, email, "")
}

// CheckSignUp returns what a key is for; Gone when it is unknown, used, withdrawn or too
// old, which are not told apart. It spends nothing.
func (s *Service) CheckSignUp(ctx context.Context, key string) (up *SignUp, err error) {
	if len(key) != 2*resetBytes {
		return nil, goneSignUp()
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		up, _, err = s.signUp(ctx, tx, key, false)
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	return up, nil
}

func goneSignUp() error {
	return fault.New(fault.Gone, "", "The link has been used before, was withdrawn, or is too old")
}

// signUp reads a key that is still good, and its invitation; nil where it has none.
func (s *Service) signUp(ctx context.Context, tx document.Tx, key string, lock bool) (*SignUp, *doctype.Document, error) {
	row, err := tx.Get(ctx, s.catalog.Schema(), s.signUps, s.hashSignUp(key), lock)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil, goneSignUp()
	}
	if err != nil {
		return nil, nil, err
	}
	up := &SignUp{Email: row.Text("email"), Key: key}
	if row.Int("expires") <= s.now().Unix() {
		return nil, nil, goneSignUp()
	}
	name := row.Text("invitation")
	if name == "" {
		if !s.SignsUp() {
			return nil, nil, goneSignUp()
		}
		return up, nil, nil
	}
	dt, err := s.docType(invitationName)
	if err != nil {
		return nil, nil, err
	}
	invitation, err := tx.Get(ctx, s.catalog.Schema(), dt, name, lock)
	if fault.KindOf(err) == fault.NotFound || err == nil && invitation.Text("status") != invitationSent {
		return nil, nil, goneSignUp()
	}
	if err != nil {
		return nil, nil, err
	}
	up.First, up.By = invitation.Text("first_name"), invitation.Text("invited_by")
	return up, invitation, nil
}

// Newcomer is who uses a key.
type Newcomer struct {
	Key, First, Last, Password string
	From                       Remote
}

// FinishSignUp makes a user of whoever has a key: the address is verified, since the key
// went there. The key is spent with it. Errors: Gone (see CheckSignUp); Validation for a
// password the policy refuses and where a name is missing, which spend nothing;
// Unavailable when passwords cannot be hashed now.
func (s *Service) FinishSignUp(ctx context.Context, n Newcomer) (user string, err error) {
	if err := s.writable(); err != nil {
		return "", err
	}
	if _, err := s.CheckSignUp(ctx, n.Key); err != nil {
		return "", err
	}
	if n.First = strings.TrimSpace(oneLine(n.First)); n.First == "" {
		return "", fault.Invalid("", "Type in your name")
	}
	hash, err := s.hash(ctx, n.Password)
	if err != nil {
		return "", err
	}
	err = s.store.Write(ctx, s.documents().WriteMode("User"), func(tx document.Tx) error {
		user, err = s.welcome(ctx, tx, n, hash)
		return err
	})
	if fault.KindOf(err) == fault.Conflict {
		return "", goneSignUp() // somebody else has become that user meanwhile
	}
	if err != nil {
		return "", failed(err)
	}
	return user, nil
}

func (s *Service) welcome(ctx context.Context, tx document.Tx, n Newcomer, hash string) (string, error) {
	up, invitation, err := s.signUp(ctx, tx, n.Key, true)
	if err != nil {
		return "", err
	}
	// Of two who hold the link, the one whose delete finds the row has it.
	ok, err := tx.Delete(ctx, s.catalog.Schema(), s.signUps, s.hashSignUp(n.Key))
	if err != nil {
		return "", err
	}
	known, err := s.isUser(ctx, tx, up.Email)
	if err != nil {
		return "", err
	}
	if !ok || known {
		return "", goneSignUp()
	}
	roles, err := s.rolesOfNewcomer(ctx, tx, invitation)
	if err != nil {
		return "", err
	}
	rows := make([]any, len(roles))
	for i, role := range roles {
		rows[i] = map[string]any{"role": role}
	}
	made, err := s.documents().As(identity.Root(), tx).Insert(ctx, "User", map[string]any{
		"email": up.Email, "first_name": cut(n.First, maxData), "last_name": cut(strings.TrimSpace(oneLine(n.Last)), maxData), "roles": rows,
	})
	if err != nil {
		return "", err
	}
	user, err := s.read(ctx, tx, made.Name(), true)
	if err != nil {
		return "", err
	}
	user.Put("password_hash", hash)
	user.Put("email_verified", int64(1))
	if err := s.save(ctx, tx, &identity.Caller{User: user.Name()}, user, "password_hash", "email_verified"); err != nil {
		return "", err
	}
	act := Activity{Operation: "Sign Up", User: user.Name(), From: n.From, Subject: "Sign Up: " + user.Name()}
	if invitation != nil {
		act.Subject += ", invited by " + invitation.Text("invited_by")
		if _, err := tx.UpdateIf(ctx, invitation.Type, invitation.Name(), map[string]any{}, map[string]any{"status": invitationAccepted}); err != nil {
			return "", err
		}
	}
	return user.Name(), s.Record(ctx, tx, act)
}

// rolesOfNewcomer are those of the invitation, if who has invited may give them still, or
// those that the site gives everybody who signs up. Roles that are no more are left out.
func (s *Service) rolesOfNewcomer(ctx context.Context, tx document.Tx, invitation *doctype.Document) (roles []string, err error) {
	if invitation == nil {
		roles = s.names(signUpRoles)
	} else {
		author, err := s.Caller(ctx, invitation.Text("invited_by"))
		if fault.KindOf(err) == fault.Authentication {
			return nil, goneSignUp()
		}
		if err != nil {
			return nil, err
		}
		if err := s.mayGiveRoles(ctx, tx, author); err != nil {
			return nil, goneSignUp()
		}
		roles = roleNames(invitation)
	}
	given := roles[:0:0]
	dt, err := s.docType("Role")
	if err != nil {
		return nil, err
	}
	absent, err := tx.Absent(ctx, dt, roles)
	if err != nil {
		return nil, err
	}
	for _, role := range roles {
		gone := Automatic(role)
		for _, one := range absent {
			gone = gone || one == role
		}
		if !gone {
			given = append(given, role)
		}
	}
	return given, nil
}

// verifyEmail notes that whoever acts can read what is sent to the user's address.
func (s *Service) verifyEmail(ctx context.Context, tx document.Tx, user *doctype.Document) error {
	if user.Type.Field("email_verified") == nil || user.Bool("email_verified") {
		return nil
	}
	_, err := tx.UpdateIf(ctx, user.Type, user.Name(), map[string]any{"enabled": int64(1)}, map[string]any{"email_verified": int64(1)})
	return err
}

// sweepSignUps clears away keys that are too old.
func (s *Service) sweepSignUps(ctx context.Context, tx document.Tx) error {
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: s.signUps,
		Columns: columns(s.signUps, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: s.signUps.Field("expires")}, Op: query.Lt, Value: s.now().Unix()},
		Length:  maxSwept,
	})
}
