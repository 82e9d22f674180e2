// Package identity says who is acting. A Caller is made once per request by
// core/auth and handed, unchanged, through every layer down to the data layer,
// which is where rights are checked.
package identity

import (
	"slices"
	"strings"

	"armature/core/scope"
)

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
	Key      string   // API key with a name that the request came with; empty: none

	// Scopes narrow the credential, and each of them has to allow what is done;
	// nil: it is not narrowed (key, session).
	Scopes []*scope.Set
	// Frame are the grants of the plugin in whose frame the caller acts, which
	// have to allow it as well; nil: in none.
	Frame *scope.Set

	// NeedsFactor is set where a role of the user's demands a second factor of whoever
	// logs in, and Proved where the session has one.
	NeedsFactor, Proved bool

	// Expired is set on a Guest who has sent a session that has ended, so that the
	// client can be told why nobody is logged in.
	Expired bool

	// Restrictions narrow what the user sees to certain documents (DocType User
	// Permission), in the order of Allow.
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

// Restricted are the restrictions to documents of a DocType; none where the user
// sees all of them.
func (c *Caller) Restricted(allow string) []Restriction {
	of := func(r Restriction, allow string) int { return strings.Compare(r.Allow, allow) }
	first, found := slices.BinarySearchFunc(c.Restrictions, allow, of)
	if !found {
		return nil
	}
	all := c.Restrictions[first:]
	last, _ := slices.BinarySearchFunc(all, allow, func(r Restriction, allow string) int {
		if r.Allow <= allow {
			return -1
		}
		return 1
	})
	return all[:last]
}

// Narrowed reports whether the caller may do less than its user.
func (c *Caller) Narrowed() bool { return c.Scopes != nil || c.Frame != nil }

// In is the caller in the frame of a plugin, in place of the one it is in now;
// nil: outside of all. What narrows the credential stays.
func (c *Caller) In(frame *scope.Set) *Caller {
	if c.Frame == frame {
		return c
	}
	in := *c
	in.Frame = frame
	return &in
}

// Document returns the set that does not allow a right on documents of a DocType;
// nil: all do. module is the DocType's, if it was made at run time, by which a
// plugin knows its own; platform is whether it is one of the platform's own.
func (c *Caller) Document(doctype, module string, platform bool, right scope.Right) *scope.Set {
	for _, s := range c.Scopes {
		if !s.Document(doctype, platform, right) {
			return s
		}
	}
	if c.Frame != nil && !c.Frame.Document(doctype, platform, right) && !c.Frame.Owns(doctype, module) {
		return c.Frame
	}
	return nil
}

// Holds reports whether a token's scopes name one literally, such as openid; of a
// credential that is not narrowed they do not.
func (c *Caller) Holds(word string) bool {
	return slices.ContainsFunc(c.Scopes, func(s *scope.Set) bool { return s.Has(word) })
}

// Platform reports whether the caller may set what decides who may do what: all
// may outside of a plugin's frame, as far as their roles go, and in one whoever
// was granted it by name.
func (c *Caller) Platform() bool { return c.Frame == nil || c.Frame.Has("platform") }

// Anonymous is the caller of a request without credentials.
func Anonymous() *Caller {
	return &Caller{User: Guest, FullName: Guest, Roles: []string{Guest}}
}

// Root is the caller of the platform itself: installing built-in DocTypes,
// migrations, the command line. No request ever gets it.
func Root() *Caller {
	return &Caller{
		User: Administrator, FullName: Administrator, Desk: true,
		Roles: []string{Administrator, SystemManager, DeskUser, All, Guest}, Proved: true,
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
