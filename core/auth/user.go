package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// SystemUser is the user_type of those who use the desk.
const SystemUser = "System User"

// Caller returns the caller for a user who has been authenticated by other
// means, such as a session. A user who is missing or disabled is refused with an
// Authentication fault.
func (s *Service) Caller(ctx context.Context, user string) (*identity.Caller, error) {
	if user == identity.Guest {
		return anonymous, nil
	}
	g, err := s.known.generation(ctx)
	if err != nil {
		return nil, err
	}
	if c := g.user(user); c != nil {
		return c, nil
	}
	var caller *identity.Caller
	err = s.store.Read(ctx, func(tx document.Tx) error {
		dt, err := s.docType("User")
		if err != nil {
			return err
		}
		doc, err := tx.Get(ctx, s.catalog.Schema(), dt, user, false)
		if err != nil {
			if fault.KindOf(err) == fault.NotFound {
				return wrong("no such user")
			}
			return err
		}
		caller, err = s.callerOf(ctx, tx, doc)
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	g.putUser(caller)
	return caller, nil
}

// callerOf makes the caller of a user's document. A disabled user is refused.
func (s *Service) callerOf(ctx context.Context, tx document.Tx, user *doctype.Document) (*identity.Caller, error) {
	name := user.Name()
	if !user.Bool("enabled") || name == identity.Guest {
		return nil, wrong("user " + name + " is disabled")
	}
	if isPlugin(user) {
		return nil, wrong("user " + name + " is a plugin's, as whom nobody logs in")
	}
	return s.callerWithRoles(ctx, tx, user)
}

// callerWithRoles is callerOf for a user who need not be one that logs in.
func (s *Service) callerWithRoles(ctx context.Context, tx document.Tx, user *doctype.Document) (*identity.Caller, error) {
	name := user.Name()
	given, err := s.roles(ctx, tx, user)
	if err != nil {
		return nil, err
	}
	c := &identity.Caller{
		User:     name,
		FullName: user.Text("full_name"),
		Email:    user.Text("email"),
		Desk:     given.desk || user.Text("user_type") == SystemUser || name == identity.Administrator,
		Roles:    given.names,

		NeedsFactor: given.factor,
	}
	if err := s.narrow(ctx, tx, c); err != nil {
		return nil, err
	}
	c.Roles = append(c.Roles, identity.All, identity.Guest)
	if c.Desk {
		c.Roles = append(c.Roles, identity.DeskUser)
	}
	if name == identity.Administrator {
		c.Roles = append(c.Roles, identity.Administrator)
		if !slices.Contains(c.Roles, identity.SystemManager) {
			c.Roles = append(c.Roles, identity.SystemManager)
		}
	}
	return c, nil
}

// automatic are the roles nobody can be given: a Has Role row that names one
// counts for nothing.
var automatic = []string{identity.Administrator, identity.Guest, identity.All, identity.DeskUser}

// givenRoles are the roles that a user's document assigns.
type givenRoles struct {
	names  []string
	desk   bool // one of them gives desk access
	factor bool // one of them demands a second factor
}

// roles returns the roles a user's document assigns, without disabled and
// automatic ones.
func (s *Service) roles(ctx context.Context, tx document.Tx, user *doctype.Document) (given givenRoles, err error) {
	var assigned []any
	for _, row := range user.Rows("roles") {
		if role := row.Text("role"); role != "" && !slices.Contains(automatic, role) {
			assigned = append(assigned, role)
		}
	}
	if len(assigned) == 0 {
		return given, nil
	}
	dt, err := s.docType("Role")
	if err != nil {
		return given, err
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name", "disabled", "desk_access", "two_factor_auth"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field("name")}, Op: query.In, Value: assigned},
		Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("name")}}},
	}
	err = tx.Rows(ctx, sel, func(values []any) error {
		if disabled, _ := values[1].(int64); disabled != 0 {
			return nil
		}
		given.desk = given.desk || values[2] == int64(1)
		given.factor = given.factor || values[3] == int64(1)
		role, _ := values[0].(string)
		given.names = append(given.names, role)
		return nil
	})
	return given, err
}

func (s *Service) docType(name string) (*doctype.DocType, error) {
	if dt := s.catalog.Schema().DocType(name); dt != nil {
		return dt, nil
	}
	return nil, fmt.Errorf("auth: the site has no DocType %s", name)
}

func columns(dt *doctype.DocType, names ...string) []doctype.Column {
	cols := make([]doctype.Column, len(names))
	for i, name := range names {
		cols[i] = doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name}
	}
	return cols
}

// failed makes an error of the database Unavailable: credentials that cannot be
// checked are not taken, and the client is told to come back.
func failed(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	return fault.Wrap(fault.Unavailable, "", err, "Credentials cannot be checked at the moment")
}

// Automatic reports whether a role is one that nobody can be given.
func Automatic(role string) bool { return slices.Contains(automatic, role) }
