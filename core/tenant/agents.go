package tenant

import (
	"context"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/mcp"
	"armature/core/site"
)

// confirms reports whether what an agent writes for a caller waits for a confirmation.
func (t *Tenant) confirms(ctx context.Context, caller *identity.Caller) (bool, error) {
	switch t.Site.Config().MCPConfirm() {
	case site.ConfirmNone:
		return false, nil
	case site.ConfirmAll:
		return true, nil
	}
	if caller.Client == "" {
		return false, nil
	}
	dt := t.catalog.Schema().DocType("User")
	service := false
	err := t.Store.Read(ctx, func(tx document.Tx) error {
		user, err := tx.Get(ctx, t.catalog.Schema(), dt, caller.User, false)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err == nil {
			service = user.Text("user_type") == auth.ServiceType
		}
		return err
	})
	return !service, err
}

// keepCall keeps a call of an agent in the Activity Log.
func (t *Tenant) keepCall(ctx context.Context, tx document.Tx, c mcp.Called) error {
	a := auth.Activity{Operation: auth.AgentCall, Subject: c.Subject, User: c.Caller.User, Details: c.Details}
	if c.Refused {
		a.Status = auth.Refused
	}
	return t.Auth.Record(ctx, tx, a.Did(c.Caller))
}
