package auth

import (
	"context"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/query"
)

// narrow reads what narrows and widens a user beside the roles: User
// Permissions, and the DocTypes of which something is shared with the user.
func (s *Service) narrow(ctx context.Context, tx document.Tx, c *identity.Caller) error {
	if c.User == identity.Administrator {
		return nil // neither applies to it
	}
	if err := s.restrictions(ctx, tx, c); err != nil {
		return err
	}
	return s.shares(ctx, tx, c)
}

func (s *Service) restrictions(ctx context.Context, tx document.Tx, c *identity.Caller) error {
	dt := s.catalog.Schema().DocType("User Permission")
	if dt == nil {
		return nil
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "allow", "for_value", "apply_to_all_doctypes", "applicable_for", "hide_descendants"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field("user")}, Op: query.Eq, Value: c.User},
	}
	err := tx.Rows(ctx, sel, func(v []any) error {
		r := identity.Restriction{HideDescendants: v[4] == int64(1)}
		r.Allow, _ = v[0].(string)
		r.Value, _ = v[1].(string)
		if v[2] != int64(1) {
			r.For, _ = v[3].(string)
		}
		c.Restrictions = append(c.Restrictions, r)
		return nil
	})
	slices.SortStableFunc(c.Restrictions, func(a, b identity.Restriction) int { return strings.Compare(a.Allow, b.Allow) })
	return err
}

func (s *Service) shares(ctx context.Context, tx document.Tx, c *identity.Caller) error {
	dt := s.catalog.Schema().DocType("DocShare")
	if dt == nil {
		return nil
	}
	shared := doctype.Operand{Field: dt.Field("share_doctype")}
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "share_doctype"),
		Where: doctype.AnyOf{
			doctype.Compare{Operand: doctype.Operand{Field: dt.Field("user")}, Op: query.Eq, Value: c.User},
			doctype.Compare{Operand: doctype.Operand{Field: dt.Field("everyone")}, Op: query.Eq, Value: int64(1)},
		},
		Group: []doctype.Operand{shared},
	}
	return tx.Rows(ctx, sel, func(v []any) error {
		if typeName, _ := v[0].(string); !slices.Contains(c.Shared, typeName) {
			c.Shared = append(c.Shared, typeName)
		}
		return nil
	})
}
