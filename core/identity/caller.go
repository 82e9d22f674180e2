// Package identity says who is acting. A Caller is made once per request by
// core/auth and handed, unchanged, through every layer down to the data layer,
// which is where rights are checked.
package identity

import "slices"

// The users and roles that exist on every site without being assigned.
const (
	Administrator = "Administrator" // user and role; passes every check
	Guest         = "Guest"         // user and role; everyone, the anonymous included
	All           = "All"           // role of every user who is logged in
	DeskUser      = "Desk User"     // role of every user of type System User
	SystemManager = "System Manager"
)

// Caller is who is acting: a user, the roles the user has, and what the
// credential allows. It is immutable and may be shared between goroutines.
type Caller struct {
	User     string
	FullName string
	Email    string
	Roles    []string // automatic roles included
	Desk     bool     // a System User: sees traces, uses the desk
	Client   string   // OAuth client the credential was given to; empty: none
	Scopes   []string // nil: the credential is not narrowed (key, session)

	// Expired is set on a Guest who has sent a session that has ended, so that the
	// client can be told why nobody is logged in.
	Expired bool

	// Restrictions narrow what the user sees to certain documents (DocType User
	// Permission).
	Restrictions []Restriction
	// Shared lists the DocTypes of which a document is shared with the user
	// (DocType DocShare), so that nobody asks for shares where there are none.
	Shared []string

	// Elevated is set only on the caller a plugin acts as under an elevated
	// grant: role checks are skipped, scopes are not, and the owner of what is
	// written stays User.
	Elevated bool
}

// Restriction is one User Permission: of DocType Allow the user sees only Value
// and the other values so named, and of other DocTypes only documents that link
// to one of them or to none.
type Restriction struct {
	Allow           string // DocType
	Value           string // name of a document of it
	For             string // the DocType it applies to; empty: all
	HideDescendants bool   // of a tree, only Value itself
}

// Anonymous is the caller of a request without credentials.
func Anonymous() *Caller {
	return &Caller{User: Guest, FullName: Guest, Roles: []string{Guest}}
}

// Root is the caller of the platform itself: installing built-in DocTypes,
// migrations, the command line. No request ever gets it.
func Root() *Caller {
	return &Caller{
		User: Administrator, FullName: Administrator, Desk: true,
		Roles: []string{Administrator, SystemManager, DeskUser, All, Guest},
	}
}

// IsGuest reports whether nobody is logged in.
func (c *Caller) IsGuest() bool { return c.User == Guest }

// IsAdministrator reports whether the caller is the built-in administrator, who
// passes every role check.
func (c *Caller) IsAdministrator() bool { return c.User == Administrator }

// Unchecked reports whether role checks do not apply to this caller.
func (c *Caller) Unchecked() bool { return c.Elevated || c.IsAdministrator() }

// HasRole reports whether the caller has the role; Administrator has every one.
func (c *Caller) HasRole(role string) bool {
	return c.IsAdministrator() || slices.Contains(c.Roles, role)
}
