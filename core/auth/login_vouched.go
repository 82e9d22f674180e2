package auth

import (
	"context"

	"armature/core/fault"
	"armature/core/identity"
)

// Vouched is a login for which somebody else answers than the user's password: another
// provider, a letter to the user's address.
type Vouched struct {
	User    string
	How     string   // in words for the Activity Log, after the user's name: "with Google"
	Methods []string // by which the user has shown who they are (RFC 8176), one at least
	TwoDone bool     // a second factor was shown, which the site takes
	From    Remote
	Session string                   // as in Attempt
	Known   func(user string) string // as in Attempt
	Factor  bool                     // as in Attempt
}

// LoginVouched begins the session of a user for whom somebody else answers. What a user
// needs to be let in holds as it does after a password: who is disabled stays out, and who
// needs a second factor shows one. Errors: those of Login. The Administrator, the user of
// a plugin and a service log in by no such way.
func (s *Service) LoginVouched(ctx context.Context, v Vouched) (*Login, error) {
	if v.User == identity.Administrator || v.User == identity.Guest || v.User == "" || len(v.Methods) == 0 {
		return nil, refusal(wrongLogin)
	}
	from := v.From.short()
	login, err := s.begin(ctx, entry{
		Attempt: Attempt{User: v.User, From: from, Session: v.Session, Known: v.Known, Factor: v.Factor},
		user:    v.User, culprits: s.culprits(v.User, from), by: v.Methods, vouched: v.TwoDone, how: v.How,
		same: func(string) bool { return true },
	})
	if fault.KindOf(err) == fault.NotFound {
		return nil, refusal(wrongLogin)
	}
	return login, err
}

// FreshBrowser refuses a session whose login is too long ago for what decides how its user
// logs in, and none at all. Errors: Permission (FreshLoginRequired).
func (s *Service) FreshBrowser(b *Browser) error { return s.fresh(b) }
