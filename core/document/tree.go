package document

import (
	"context"
	"slices"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
)

// checkTree refuses a parent that would make a node its own ancestor.
func (s *Service) checkTree(ctx context.Context, tx Tx, doc, before *doctype.Document) error {
	parent := doc.Type.ParentLink()
	if parent == nil {
		return nil
	}
	up, _ := doc.Values()[parent.Index].(string)
	if up == "" || before != nil && before.Values()[parent.Index] == up {
		return nil
	}
	above, err := access.Ancestors(ctx, tx, doc.Type, up, nil)
	if err != nil {
		return err
	}
	if up == doc.Name() || slices.Contains(above, any(doc.Name())) {
		return fault.Invalid("", "%s cannot be below itself in the tree of %s", doc.Name(), doc.Type.Name)
	}
	return nil
}
