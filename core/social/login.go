package social

import (
	"context"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// federated is how a login by another provider is called among the ways of showing who one
// is, of which RFC 8176 has no name for it; Microsoft's providers call it so.
const federated = "fed"

// UnknownAccount is the exc_type of an account that is no user's here.
const UnknownAccount = "UnknownAccountError"

// login logs in whom an account is tied to; an account that is new becomes tied, or a user,
// where the key's rules say so.
func (s *Service) login(ctx context.Context, k *key, who *person, t *ticket, a Answer) (*auth.Login, error) {
	var user string
	err := s.write(ctx, func(tx document.Tx) (err error) {
		user, err = s.find(ctx, tx, k, who, a.From)
		return err
	})
	if f := fault.From(err); err != nil && f.ExcType() == UnknownAccount {
		if failed := s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
			return s.c.Auth.Record(ctx, tx, auth.Activity{Operation: activity, Status: auth.Refused, Subject: "An account of " + k.name + " is nobody's here", From: a.From})
		}); failed != nil {
			return nil, failed
		}
	}
	if err != nil {
		return nil, err
	}
	return s.c.Auth.LoginVouched(ctx, auth.Vouched{
		User: user, How: "with " + k.name, Methods: []string{federated}, TwoDone: k.twoShown(who),
		From: a.From, Session: a.Session, Known: a.Known, Factor: t.Factor,
	})
}

// find returns the user of an account, with the roles that its claims give now.
func (s *Service) find(ctx context.Context, tx document.Tx, k *key, who *person, from auth.Remote) (string, error) {
	row, err := s.row(ctx, tx, s.tieOf(k, who))
	if err != nil {
		return "", err
	}
	if row == nil {
		if err := s.welcome(ctx, tx, k, who, from); err != nil {
			return "", err
		}
		if row, err = s.row(ctx, tx, s.tieOf(k, who)); err != nil {
			return "", err
		}
	}
	name := row.Text("user")
	user, err := s.user(ctx, tx, name, true)
	if err != nil {
		return "", err
	}
	if user == nil || builtin(name) {
		return "", unknown(k)
	}
	if user.Bool("enabled") { // who is shut out is told so by the login, and changes nothing
		if err := s.setRoles(ctx, tx, row, k, who); err != nil {
			return "", err
		}
	}
	_, err = tx.UpdateIf(ctx, tables().ties, row.Name(), map[string]any{"user": name}, map[string]any{"used": s.c.Now().Unix()})
	return name, err
}

// unknown is what everybody is told whose account lets nobody in, whether there is a user
// of the address or not.
func unknown(k *key) error {
	return fault.New(fault.Permission, UnknownAccount,
		"This account of %s is nobody's here yet. If you have an account on this site, log in with it and connect %s there; or ask those who run the site.", k.name, k.name)
}

// welcome ties a new account to the user of its address, or makes a user, as far as the
// key's rules go. The address has to be one that the provider says is theirs.
func (s *Service) welcome(ctx context.Context, tx document.Tx, k *key, who *person, from auth.Remote) error {
	email := strings.ToLower(strings.TrimSpace(who.email))
	if email == "" || !who.verified || len(email) > maxData || builtin(who.email) {
		return unknown(k)
	}
	user, err := s.userOf(ctx, tx, email)
	if err != nil {
		return err
	}
	if user != nil {
		if user.Text("email") != email {
			return unknown(k) // it was theirs when they came, and is somebody else's now
		}
		if !who.vouched || !of(k.trusted, email) || builtin(user.Name()) || auth.IsService(user) || !user.Bool("enabled") {
			return unknown(k) // the user says so themselves, logged in
		}
		return s.addTie(ctx, tx, k, who, user.Name(), from)
	}
	if k.signUps != everybody && (k.signUps != allowedDomains || !of(k.domains, email)) {
		return unknown(k)
	}
	first, last := who.given, who.family
	if first == "" {
		first, last = firstOf(who.name, who.account), ""
	}
	if local, _, _ := strings.Cut(email, "@"); strings.TrimSpace(first) == "" {
		first = local
	}
	made, err := s.c.Documents().As(identity.Root(), tx).Insert(ctx, "User", map[string]any{
		"email": email, "first_name": cut(plain(first), maxData), "last_name": cut(plain(last), maxData),
	})
	if err != nil {
		return err
	}
	return s.addTie(ctx, tx, k, who, made.Name(), from)
}

// plain is a name as it may be stored: on one line, without what a page would act on.
func plain(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '<' || r == '>' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "")))
}

// setRoles gives the user of a tie the roles that the claims give now, and takes away those
// that they gave before. A role that somebody has given the user stays. With who nil all
// go.
func (s *Service) setRoles(ctx context.Context, tx document.Tx, row *doctype.Document, k *key, who *person) error {
	name := row.Text("user")
	before := strings.FieldsFunc(row.Text("roles"), func(r rune) bool { return r == '\n' })
	var wanted []string
	if who != nil {
		var err error
		if wanted, err = s.grantable(ctx, tx, k, who, name); err != nil {
			return err
		}
	}
	if len(wanted) == 0 && len(before) == 0 {
		return nil
	}
	user, err := s.user(ctx, tx, name, true)
	if err != nil || user == nil {
		return err
	}
	others, err := s.rolesOfOthers(ctx, tx, row)
	if err != nil {
		return err
	}
	var has, keep []string // what the user has; what the claim has given, and counts as such
	for _, one := range user.Rows("roles") {
		has = append(has, one.Text("role"))
	}
	next := slices.DeleteFunc(slices.Clone(has), func(role string) bool {
		return slices.Contains(before, role) && !slices.Contains(wanted, role) && !slices.Contains(others, role)
	})
	for _, role := range wanted {
		switch {
		case !slices.Contains(has, role):
			next, keep = append(next, role), append(keep, role)
		case slices.Contains(before, role) || slices.Contains(others, role):
			keep = append(keep, role)
		}
	}
	if !slices.Equal(keep, before) {
		if _, err := tx.UpdateIf(ctx, tables().ties, row.Name(), map[string]any{"user": name}, map[string]any{"roles": strings.Join(keep, "\n")}); err != nil {
			return err
		}
	}
	if slices.Equal(next, has) {
		return nil
	}
	rows := make([]any, len(next))
	for i, role := range next {
		rows[i] = map[string]any{"role": role}
	}
	_, err = s.c.Documents().As(identity.Root(), tx).Update(ctx, "User", name, map[string]any{"roles": rows})
	return err
}

// grantable are the roles that a key gives a person, as far as who wrote its rules may give
// that user roles still, and the roles are there.
func (s *Service) grantable(ctx context.Context, tx document.Tx, k *key, who *person, user string) ([]string, error) {
	roles := k.granted(who)
	if len(roles) == 0 {
		return nil, nil
	}
	author, err := s.c.Auth.Caller(ctx, k.author)
	if fault.KindOf(err) == fault.Authentication || err == nil && author.IsGuest() {
		return nil, nil // whoever wrote them is gone
	}
	if err != nil {
		return nil, err
	}
	_, err = s.c.Documents().As(author, tx).DemandField(ctx, "User", user, "roles", access.Write)
	if k := fault.KindOf(err); k == fault.Permission || k == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dt, err := s.c.Catalog.Schema().Platform("Role")
	if err != nil {
		return nil, err
	}
	absent, err := tx.Absent(ctx, dt, roles)
	return slices.DeleteFunc(roles, func(role string) bool { return slices.Contains(absent, role) || auth.Automatic(role) }), err
}

// rolesOfOthers are the roles that other accounts of the same user have given.
func (s *Service) rolesOfOthers(ctx context.Context, tx document.Tx, row *doctype.Document) (roles []string, err error) {
	dt := tables().ties
	err = tx.Rows(ctx, &doctype.Select{DocType: dt, Columns: columns(dt, "name", "roles"), Where: equals(dt, "user", row.Text("user"))}, func(v []any) error {
		name, _ := v[0].(string)
		text, _ := v[1].(string)
		if name != row.Name() && text != "" {
			roles = append(roles, strings.Split(text, "\n")...)
		}
		return nil
	})
	return roles, err
}
