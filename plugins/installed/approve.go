package installed

import (
	"context"
	"slices"

	"armature/core/document"
	"armature/core/identity"
	"armature/plugins/doctypes"
	"armature/plugins/grant"
)

// Difference is what a version asks for that another one does not.
type Difference struct {
	More []string `json:"more"` // in words
	Less []string `json:"less"`
}

func difference(before, after []string) *Difference {
	but := func(all, others []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(g string) bool { return slices.Contains(others, g) })
	}
	return &Difference{More: grant.InWords(but(after, before)), Less: grant.InWords(but(before, after))}
}

// bring installs the DocTypes of a stored version that waits, if approving what is
// named has it serve. Each is a transaction of its own, before that of the approval.
func (s *Site) bring(ctx context.Context, caller *identity.Caller, plugin string, names []string) error {
	sv, err := s.open()
	if err != nil {
		return err
	}
	var r *Record
	if err := sv.Store.Read(ctx, func(tx document.Tx) error {
		records, err := readAll(ctx, tx, sv.Documents.Schema())
		r = records[plugin]
		return err
	}); err != nil {
		return err
	}
	if r == nil || !r.Stored() || r.PendingHash == "" {
		return nil
	}
	if err := mayApprove(sv.Documents, caller, r.Asked, names); err != nil {
		return err
	}
	if err := r.approve(names); err != nil || len(r.missing()) > 0 {
		return err
	}
	b, err := Bundle(ctx, sv, plugin, r.PendingHash)
	if err != nil {
		return err
	}
	brought, err := doctypes.Parse(b.Manifest)
	if err != nil {
		return err
	}
	_, err = doctypes.Apply(ctx, sv.Store, sv.Documents, elevated(caller), brought)
	return err
}
