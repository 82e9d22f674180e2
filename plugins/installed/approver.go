package installed

import (
	"context"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/scope"
	"armature/plugins/grant"
	"armature/plugins/manifest"
)

// noteRefusal keeps in the log of activities that somebody was not allowed to manage
// a plugin. What was tried has changed nothing, so it has a transaction of its own.
func (s *Site) noteRefusal(ctx context.Context, caller *identity.Caller, plugin string, why error) error {
	sv, err := s.open()
	if err != nil || sv.Users == nil {
		return err
	}
	return sv.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		return sv.Users.RefusedPlugin(ctx, tx, caller, plugin, fault.From(why).Message)
	})
}

// mayApprove refuses an application, or a plugin, that acts for somebody, and who
// has not what is given.
func mayApprove(documents *document.Service, caller *identity.Caller, asked, names []string) error {
	if caller.Narrowed() {
		return fault.Denied("What a plugin may do is approved by people, not by applications: the credentials are narrowed by scopes")
	}
	given := slices.Clone(names)
	if len(names) == 0 || slices.Contains(names, grant.Everything) {
		given = append(given, slices.DeleteFunc(slices.Clone(asked), grant.ByName)...)
	}
	raised := slices.Contains(given, manifest.Elevated)
	for _, g := range given {
		if err := mayGive(documents, caller, g, false); err != nil {
			return err
		}
	}
	// Whoever calls a plugin that passes roles by has what the plugin has: all that
	// it asks for counts then, given now or before.
	if raised || slices.Contains(asked, manifest.Elevated) && !caller.Unchecked() {
		for _, g := range asked {
			if !raised && !slices.Contains(given, g) {
				continue
			}
			if err := mayGive(documents, caller, g, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayGive refuses who has not what an entry gives: the right on some documents of
// the DocType, or where roles are passed by on all of them.
func mayGive(documents *document.Service, caller *identity.Caller, g string, raised bool) error {
	sc, err := scope.Parse(g)
	if err != nil || caller.Unchecked() {
		return nil
	}
	right, reaches := sc.Right, sc.Kind == scope.Resource
	switch sc.Kind {
	case scope.Event:
		right, reaches = scope.Read, !raised
	case scope.Sets:
		right, reaches = scope.Update, !raised
	}
	if !reaches {
		return nil
	}
	may := access.MaySome
	if raised {
		may = access.MayAll
	}
	var lacking []string
	for dt := range documents.Schema().All {
		if !named(sc, dt) || may(caller, dt, right) {
			continue
		}
		if lacking = append(lacking, dt.Name); len(lacking) > maxLacking {
			break
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	slices.Sort(lacking)
	if raised {
		return fault.Denied("User %s may not give a plugin elevated together with %s, having less on %s", caller.User, g, strings.Join(lacking, ", "))
	}
	return fault.Denied("User %s may not give a plugin %s, having less on %s", caller.User, g, strings.Join(lacking, ", "))
}

// maxLacking is how many DocTypes a refusal names.
const maxLacking = 5

// named reports whether a scope of documents names a DocType, by itself or by a
// wildcard.
func named(sc scope.Scope, dt *doctype.DocType) bool {
	if sc.Name != scope.Any {
		return sc.Name == dt.Name
	}
	return !dt.Child && !grant.PlatformDocType(dt.Name)
}
