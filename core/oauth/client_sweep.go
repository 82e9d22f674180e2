package oauth

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/oauth/oauthstore"
	"armature/core/query"
)

const (
	// unusedDays is how long a client that has registered itself is kept without
	// anybody having let it in.
	unusedDays = 30
	// maxUnused bounds how many one transaction clears away.
	maxUnused = 200
)

// sweepUnused deletes clients that registered themselves and that nobody lets in,
// or does any more: anybody may make them, so somebody has to take them away.
func (s *Service) sweepUnused(ctx context.Context) error {
	schema := s.c.Catalog.Schema()
	clients, err := schema.Platform(clientName)
	if err != nil {
		return nil // nobody registers where this is off
	}
	grants, err := schema.Platform(oauthstore.GrantName)
	if err != nil {
		return nil
	}
	name := []doctype.Column{{Operand: doctype.Operand{Field: clients.Field("name")}, Key: "name"}}
	created := doctype.Operand{Field: clients.Field("creation")}
	after := ""
	for ctx.Err() == nil {
		var old []string
		err := s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
			old = nil
			err := tx.Rows(ctx, &doctype.Select{
				DocType: clients, Columns: name, Length: maxUnused,
				Where: doctype.AllOf{
					doctype.Compare{Operand: doctype.Operand{Field: clients.Field("registered")}, Op: query.Eq, Value: int64(1)},
					doctype.Compare{Operand: created, Op: query.Lt, Value: doctype.FormatDatetime(s.c.Now().AddDate(0, 0, -unusedDays))},
					doctype.Compare{Operand: name[0].Operand, Op: query.Gt, Value: after},
				},
				Order: []doctype.OrderBy{{Operand: name[0].Operand}},
			}, func(v []any) error {
				id, _ := v[0].(string)
				old = append(old, id)
				return nil
			})
			if err != nil {
				return err
			}
			for _, id := range old {
				n, err := tx.Count(ctx, &doctype.Select{
					DocType: grants, Columns: []doctype.Column{{Operand: doctype.Operand{Field: grants.Field("name")}, Key: "name"}},
					Where: doctype.Compare{Operand: doctype.Operand{Field: grants.Field("client")}, Op: query.Eq, Value: id},
				})
				if err == nil && n == 0 {
					_, err = tx.Delete(ctx, schema, clients, id)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(old) < maxUnused {
			return err
		}
		after = old[len(old)-1]
	}
	return ctx.Err()
}
