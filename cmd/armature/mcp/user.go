package mcp

import (
	"context"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/tenant"
)

// agentUser is who an agent is on data that is kept: what it does there can be told from
// what people do, and nobody else's key stops working.
const agentUser = "agent@armature.localhost"

// keysOfAgent makes that user, where it is missing, and gives it a new API key, which is
// known to this process alone.
func keysOfAgent(ctx context.Context, t *tenant.Tenant) (string, error) {
	var keys auth.Keys
	err := t.Store.Write(ctx, document.PluginTx, func(tx document.Tx) error {
		docs := t.Documents.As(identity.Root(), tx)
		_, err := docs.Get(ctx, "User", agentUser)
		if fault.KindOf(err) == fault.NotFound && err != nil {
			_, err = docs.Insert(ctx, "User", map[string]any{
				"email": agentUser, "first_name": "Agent", "user_type": "Service", "roles": []any{map[string]any{"role": identity.SystemManager}},
			})
		}
		if err != nil {
			return err
		}
		keys, err = t.Auth.GenerateKeys(ctx, tx, identity.Root(), agentUser)
		return err
	})
	if err != nil {
		return "", err
	}
	return "token " + keys.Key + ":" + keys.Secret, nil
}
