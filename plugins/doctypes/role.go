package doctypes

import (
	"context"
	"fmt"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// roleName is the DocType of roles.
const roleName = "Role"

// missingRoles lists the roles that the permissions name and that the site does
// not have, but for those planned already.
func (dt *DocType) missingRoles(ctx context.Context, tx document.Tx, documents *document.Service, planned map[string]bool) ([]string, error) {
	if documents.Schema().DocType(roleName) == nil {
		return nil, nil
	}
	var missing []string
	for _, rule := range dt.rules {
		name, _ := rule["role"].(string)
		if name == "" || planned[name] {
			continue // what is wrong with a rule without a role, the platform says
		}
		switch _, err := documents.As(identity.Root(), tx).Get(ctx, roleName, name); {
		case err == nil:
		case fault.KindOf(err) == fault.NotFound:
			planned[name] = true
			missing = append(missing, name)
		default:
			return nil, err
		}
	}
	return missing, nil
}

// makeRoles makes the roles of a plan. Nobody has them yet: whom to give them to
// is the administrator's business.
func makeRoles(ctx context.Context, store document.Store, documents *document.Service, caller *identity.Caller, steps []Step) error {
	for _, s := range steps {
		for _, name := range s.Roles {
			err := write(ctx, store, func(tx document.Tx) error {
				_, err := documents.As(caller, tx).Insert(ctx, roleName, map[string]any{"role_name": name, "is_custom": true})
				return err
			})
			if err != nil && fault.KindOf(err) != fault.Conflict { // another process was quicker
				return fmt.Errorf("make role %s: %w", name, err)
			}
		}
	}
	return nil
}
