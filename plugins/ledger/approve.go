package ledger

import (
	"context"
	"slices"
	"strings"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/scope"
	"armature/plugins/dispatch"
	"armature/plugins/grant"
	"armature/plugins/shipped"
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

// mayApprove refuses who may not give a plugin what is named, or without names all
// that is given so: an application, or a plugin, that acts for somebody, and who
// has not what is given.
func (s *Site) mayApprove(ctx context.Context, sv dispatch.Services, caller *identity.Caller, asked, names []string) error {
	if caller.Narrowed() {
		return fault.Denied("What a plugin may do is approved by people, not by applications: the credentials are narrowed by scopes")
	}
	given := names
	if len(given) == 0 {
		given = slices.DeleteFunc(slices.Clone(asked), grant.ByName)
	}
	for _, g := range given {
		sc, err := scope.Parse(g)
		if err != nil || sc.Kind != scope.Resource || sc.Name == scope.Any {
			continue
		}
		if sv.Documents.Schema().DocType(sc.Name) != nil && !sv.Documents.MaySome(caller, sc.Name, sc.Right) {
			return fault.Denied("User %s may not give a plugin %s, having less", caller.User, g)
		}
	}
	return nil
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
	if err := s.mayApprove(ctx, sv, caller, r.Asked, names); err != nil {
		return err
	}
	if r.Approved, err = grant.Approve(r.Asked, r.Approved, names, false); err != nil || len(r.missing()) > 0 {
		return err
	}
	b, err := Bundle(ctx, sv, plugin, r.PendingHash)
	if err != nil {
		return err
	}
	brought, err := shipped.Parse(b.Manifest)
	if err != nil {
		return err
	}
	_, err = shipped.Apply(ctx, sv.Store, sv.Documents, elevated(caller), brought)
	return err
}

// activityType is where it is noted who has approved or revoked what, and when.
const activityType = "Activity Log"

// noted writes down what a change of a record has given and taken.
func (s *Site) noted(ctx context.Context, tx document.Tx, documents *document.Service, caller *identity.Caller, old, next *Record) error {
	var before []string
	if old != nil {
		before = old.Approved
	}
	for _, change := range []struct {
		what    string
		entries []string
	}{
		{"Approved for", slices.DeleteFunc(slices.Clone(next.Approved), func(g string) bool { return slices.Contains(before, g) })},
		{"Revoked from", slices.DeleteFunc(slices.Clone(before), func(g string) bool { return slices.Contains(next.Approved, g) })},
	} {
		if len(change.entries) == 0 {
			continue
		}
		_, err := documents.As(identity.Root(), tx).Insert(ctx, activityType, map[string]any{
			"subject":   shorten(change.what + " the plugin " + next.Name + ": " + strings.Join(change.entries, ", ")),
			"operation": "Plugin", "status": "Success", "user": caller.User,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shorten keeps a subject within what its field holds.
func shorten(text string) string {
	const most = 140
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
