package installed

import (
	"context"
	"slices"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/plugins/dispatch"
	"armature/plugins/grant"
)

// change loads a record, has fn change it, stores it and makes it true here.
func (s *Site) change(ctx context.Context, caller *identity.Caller, plugin string, fn func(tx document.Tx, sv dispatch.Services, r *Record) error) (*Record, error) {
	sv, err := s.open()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed *Record
	err = sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		r, err := read(ctx, tx, sv.Documents, plugin)
		if err != nil {
			return err
		}
		if r == nil {
			r = s.unwritten(plugin)
		}
		if r == nil || r.Status == Removed {
			return fault.Missing("The plugin %s is not installed on this site", plugin)
		}
		if err := fn(tx, sv, r); err != nil {
			return err
		}
		if err := ensureUser(ctx, tx, sv, caller, r); err != nil {
			return err
		}
		changed = r
		return write(ctx, tx, sv.Documents, caller, r)
	})
	if err != nil {
		return nil, err
	}
	return changed, s.after(ctx, plugin)
}

// approve gives a plugin what it asks for: what is named, or without names all
// but what is given by name alone. A version that waited for it serves from now on,
// and what it brings comes with it.
func (s *Site) approve(ctx context.Context, caller *identity.Caller, plugin string, names []string) (*Record, error) {
	if err := s.bring(ctx, caller, plugin, names); err != nil {
		return nil, err
	}
	return s.change(ctx, caller, plugin, func(tx document.Tx, sv dispatch.Services, r *Record) (err error) {
		if err := mayApprove(sv.Documents, caller, r.Asked, names); err != nil {
			return err
		}
		if err := r.approve(names); err != nil {
			return err
		}
		if r.PendingHash == "" {
			return nil
		}
		before, err := askedBy(ctx, tx, sv, plugin, r.Hash)
		if err != nil || r.held(before) {
			return err
		}
		served := r.Hash
		r.succeed()
		if !r.Stored() {
			return nil // the registry decides anew
		}
		return s.chosen(ctx, tx, sv.Documents, caller, plugin, r.Hash, served)
	})
}

// ensureUser makes the user as whom handlers of a plugin run, once that is approved.
func ensureUser(ctx context.Context, tx document.Tx, sv dispatch.Services, caller *identity.Caller, r *Record) (err error) {
	if sv.Users == nil || !slices.Contains(r.Asked, grant.RunAs) || !slices.Contains(r.Approved, grant.RunAs) {
		return nil
	}
	r.RunAs, err = sv.Users.EnsurePluginUser(ctx, tx, caller, r.Name)
	return err
}

// revoke takes back what was approved: what is named, or without names all. A
// plugin that needs it serves no more, and what its handlers have to be asked about
// is refused.
func (s *Site) revoke(ctx context.Context, caller *identity.Caller, plugin string, names []string) (*Record, error) {
	return s.change(ctx, caller, plugin, func(_ document.Tx, _ dispatch.Services, r *Record) error { return r.revoke(names) })
}

// askedBy is what a stored version asks for.
func askedBy(ctx context.Context, tx document.Tx, sv dispatch.Services, plugin, hash string) ([]string, error) {
	all, err := versions(ctx, tx, sv.Documents.Schema(), plugin)
	for _, v := range all {
		if v.Hash == hash {
			return v.asked, err
		}
	}
	return nil, err
}

// rollback has the version serve that did before the present one. A version that
// waits for approval is put aside instead.
func (s *Site) rollback(ctx context.Context, caller *identity.Caller, plugin string) (*Record, error) {
	return s.change(ctx, caller, plugin, func(tx document.Tx, sv dispatch.Services, r *Record) error {
		if !r.Stored() {
			return fault.Invalid("", "%s lies in a folder: put the older file back to %s", plugin, r.Source)
		}
		all, err := versions(ctx, tx, sv.Documents.Schema(), plugin)
		if err != nil {
			return err
		}
		now := slices.IndexFunc(all, func(v Version) bool { return v.Hash == r.Hash })
		if r.PendingHash != "" && now >= 0 {
			r.PendingVersion, r.PendingHash, r.PendingPublisher = "", "", ""
			r.Asked, r.Methods = all[now].asked, all[now].methods
			return nil
		}
		if now < 0 || now+1 >= len(all) || all[now+1].Activated == "" {
			return fault.Invalid("", "There is no version of %s before %s", plugin, r.Version)
		}
		v := all[now+1]
		r.Version, r.Hash, r.Publisher, r.Asked, r.Methods, r.Error = v.Version, v.Hash, v.Publisher, v.asked, v.methods, ""
		return nil
	})
}

// disable takes a plugin off the site, and enable puts it back.
func (s *Site) disable(ctx context.Context, caller *identity.Caller, plugin string) (*Record, error) {
	return s.change(ctx, caller, plugin, func(_ document.Tx, _ dispatch.Services, r *Record) error {
		r.Status = Disabled
		return nil
	})
}

func (s *Site) enable(ctx context.Context, caller *identity.Caller, plugin string) (*Record, error) {
	return s.change(ctx, caller, plugin, func(_ document.Tx, _ dispatch.Services, r *Record) error {
		r.Status = Active // or what follows from the rest of the record
		return nil
	})
}

// uninstall removes a stored plugin with its versions. The DocTypes it brought
// and their documents stay.
func (s *Site) uninstall(ctx context.Context, caller *identity.Caller, plugin string) error {
	sv, err := s.open()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		r, err := read(ctx, tx, sv.Documents, plugin)
		switch {
		case err != nil:
			return err
		case r == nil:
			return fault.Missing("The plugin %s is not installed on this site", plugin)
		case !r.Stored():
			return fault.Invalid("", "%s lies in a folder: remove %s", plugin, r.Source)
		}
		if sv.Users != nil && r.RunAs != "" {
			if err := sv.Users.RetirePluginUser(ctx, tx, caller, plugin); err != nil {
				return err
			}
		}
		all, err := versions(ctx, tx, sv.Documents.Schema(), plugin)
		if err != nil {
			return err
		}
		for _, v := range all {
			if err := drop(ctx, tx, sv.Documents, plugin, v.Hash); err != nil {
				return err
			}
		}
		if err := sv.Documents.As(elevated(caller), tx).Delete(asWriter(ctx), pluginType, plugin); err != nil {
			return err
		}
		return tx.BumpEpoch(ctx)
	})
	if err != nil {
		return err
	}
	return s.sync(ctx)
}
