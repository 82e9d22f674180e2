package host

import (
	"context"
	"net/http"

	"armature/core/auth"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/web"
)

// userMethods are the methods that need the site's authentication.
func (t *Tenant) userMethods() []*method.Method {
	return []*method.Method{{
		Path:   "framework.core.doctype.user.user.generate_keys",
		Verbs:  []string{http.MethodPost},
		Roles:  []string{identity.SystemManager},
		Writes: true,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			user, err := call.Args.Need("user")
			if err != nil {
				return nil, err
			}
			if call.Request != nil {
				ctx = auth.WithOrigin(ctx, web.Origin(call.Request.RemoteAddr, call.Request.Header))
			}
			return t.Auth.GenerateKeys(ctx, call.Tx, call.Caller, user)
		},
	}}
}
