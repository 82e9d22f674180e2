package oauth

import (
	"context"
	"net/http"

	"armature/core/identity"
	"armature/core/method"
)

// Methods are those for who manages the clients of the site: giving one another
// secret.
func (s *Service) Methods() []*method.Method {
	return []*method.Method{{
		Path: Prefix + "rotate_client_secret", Verbs: []string{http.MethodPost},
		Roles: []string{identity.SystemManager}, Writes: true, Tier: method.Credentials,
		Description: "Gives an OAuth client another secret, which is shown this once. The one before it stops working.",
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			id, err := call.Args.Need("client_id")
			if err != nil {
				return nil, err
			}
			secret, err := s.RotateSecret(ctx, call.Tx, call.Caller, id)
			if err != nil {
				return nil, err
			}
			return map[string]string{"client_id": id, "client_secret": secret}, nil
		},
	}}
}
