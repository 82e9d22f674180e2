package auth

import (
	"context"
	"net/http"

	"armature/core/identity"
	"armature/core/method"
)

// Methods are the methods of users that make credentials.
func (s *Service) Methods() []*method.Method {
	return []*method.Method{{
		Path:        "framework.user.set_address",
		Description: "Gives a user another e-mail address, which is not verified by that, where the old one cannot be reached any more: user, email. For System Managers. The user is called as before.",
		Verbs:       []string{http.MethodPost},
		Roles:       []string{identity.SystemManager},
		Writes:      true, Tier: method.Credentials,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			user, err := call.Args.Need("user")
			if err != nil {
				return nil, err
			}
			email, err := call.Args.Need("email")
			if err != nil {
				return nil, err
			}
			return struct{}{}, s.SetAddress(ctx, call.Tx, call.Caller, user, email)
		},
	}, {
		Path:   "framework.core.doctype.user.user.generate_keys",
		Verbs:  []string{http.MethodPost},
		Roles:  []string{identity.SystemManager},
		Writes: true, Tier: method.Credentials,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			user, err := call.Args.Need("user")
			if err != nil {
				return nil, err
			}
			return s.GenerateKeys(ctx, call.Tx, call.Caller, user)
		},
	}}
}
