package installed

import (
	"context"
	"fmt"
	"reflect"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/doctypes"
	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/plugins/registry"
)

// Installation is what installing a bundle does, or would do.
type Installation struct {
	Plugin    string          `json:"plugin"`
	Version   string          `json:"version"`
	Hash      string          `json:"hash"`
	Publisher string          `json:"publisher"`          // key that has signed it; "none": nobody's
	First     bool            `json:"first"`              // this bundle had not been stored before
	Replaces  string          `json:"replaces,omitempty"` // the version that serves
	Status    Status          `json:"status"`
	Asked     []string        `json:"grants_asked"`
	Waiting   []string        `json:"grants_waiting"` // for an administrator's approval
	Pending   bool            `json:"pending"`        // the version that served goes on doing so until then
	Does      []string        `json:"does"`           // what it may do, in words
	Changes   *Difference     `json:"changes"`        // of what it asks for, against the version that serves; nil: none does
	DocTypes  []doctypes.Step `json:"doctypes"`
	Pristine  bool            `json:"pristine"`         // calls start from a snapshot
	Reason    string          `json:"reason,omitempty"` // why not
}

// install puts a bundle into the site's database and has it serve. approve names
// what the caller approves along with it, draft is the hash of a version that is
// not kept once it is replaced; empty: none. Errors are faults that say what is
// wrong with the plugin, or Conflict where another one stands in the way;
// nothing has changed then, apart from DocTypes that were made before the one
// that failed.
func (s *Site) install(ctx context.Context, caller *identity.Caller, wasm []byte, approve []string, draft string, dry bool) (*Installation, error) {
	sv, err := s.open()
	if err != nil {
		return nil, err
	}
	if len(wasm) > bundle.MaxSize {
		return nil, fault.New(fault.TooLarge, "", "The bundle is over %d MiB", bundle.MaxSize>>20)
	}
	b, err := bundle.Parse(wasm)
	if err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	source := storedSource(b.Manifest.Name)
	g, err := s.cfg.Own.Check(ctx, source, b)
	if err != nil {
		return nil, invalid(err)
	}
	defer g.Close() // what serves is loaded by itself; the module is the same
	if err := s.cfg.Table.Check(g); err != nil {
		return nil, err
	}
	if err := s.cfg.Records.trusts(g); err != nil {
		return nil, err
	}
	brought, err := doctypes.Parse(b.Manifest)
	if err != nil {
		return nil, err
	}
	planned, err := s.plan(ctx, sv, g, approve, brought)
	if err != nil {
		return nil, err
	}
	next, done := planned.next, planned.done
	if dry {
		return done, nil
	}
	if len(approve) > 0 {
		if err := mayApprove(sv.Documents, caller, done.Asked, approve); err != nil {
			return nil, err
		}
	}
	if !done.Pending {
		if _, err := doctypes.Apply(ctx, sv.Store, sv.Documents, elevated(caller), brought); err != nil {
			return nil, err
		}
	}
	if err := s.writeDown(ctx, sv, caller, g, wasm, draft, planned); err != nil {
		return nil, err
	}
	if !done.Pending {
		s.brought[next.Name] = g.Hash
	}
	return done, s.after(ctx, next.Name)
}

// writeDown records what was planned, if nobody has changed the plugin since.
func (s *Site) writeDown(ctx context.Context, sv dispatch.Services, caller *identity.Caller, g *registry.Generation, wasm []byte, draft string, planned *planned) error {
	next, done := planned.next, planned.done
	return sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		found, err := read(ctx, tx, sv.Documents, next.Name)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(found, planned.old) {
			return fault.New(fault.Conflict, "", "Somebody else has changed the plugin %s meanwhile; look at it, and try again", next.Name)
		}
		if done.First, err = keepVersion(ctx, tx, sv.Documents, caller, g, wasm, s.cfg.Grow); err != nil {
			return err
		}
		if !done.Pending {
			if err := s.chosen(ctx, tx, sv.Documents, caller, next.Name, next.Hash, served(planned.old)); err != nil {
				return err
			}
		}
		if err := dropDraft(ctx, tx, sv.Documents, next, draft); err != nil {
			return err
		}
		if err := ensureUser(ctx, tx, sv, caller, next); err != nil {
			return err
		}
		return write(ctx, tx, sv.Documents, caller, next)
	})
}

// served is the hash of the stored version that a record has serve.
func served(r *Record) string {
	if r == nil || !r.Stored() {
		return ""
	}
	return r.Hash
}

// planned is an installation before it is done.
type planned struct {
	old  *Record // what it goes by; nil: the plugin is new
	next *Record
	done *Installation
}

// plan says what installing would do, and what the record would be.
func (s *Site) plan(ctx context.Context, sv dispatch.Services, g *registry.Generation, approve []string, brought []*doctypes.DocType) (*planned, error) {
	m := g.Manifest
	p := &planned{next: &Record{Name: m.Name, Source: g.Source}}
	p.done = &Installation{Plugin: m.Name, Version: m.Version, Hash: g.Hash, Publisher: g.Publisher, Asked: dispatch.Asked(g, manifest.Limits{})}
	p.done.Pristine, p.done.Reason = g.Module.Pristine()
	var before []string // what the version that serves asks for
	err := sv.Store.Read(ctx, func(tx document.Tx) (err error) {
		if p.done.DocTypes, err = doctypes.Plan(ctx, tx, sv.Documents, brought); err != nil {
			return err
		}
		records, err := readAll(ctx, tx, sv.Documents.Schema())
		if err != nil || records[m.Name] == nil {
			return err
		}
		p.old = records[m.Name]
		if p.old.Status == Removed {
			return nil // what was approved of a plugin in a folder is not this one's
		}
		*p.next = *p.old
		p.done.Asked = append(p.done.Asked, p.old.moved(g)...)
		if p.old.Hash != "" {
			before, err = askedBy(ctx, tx, sv, m.Name, p.old.Hash)
			p.done.Changes = difference(before, p.done.Asked)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !p.next.Stored() {
		return nil, fault.New(fault.Conflict, "", "The plugin %s is installed already, from %s", m.Name, p.next.Source)
	}
	p.done.Does = grant.InWords(p.done.Asked)
	return p, p.decide(g, approve, before)
}

// decide says whether the new version serves or waits.
func (p *planned) decide(g *registry.Generation, approve, before []string) (err error) {
	next, done := p.next, p.done
	next.Asked, next.Optional, next.Methods = done.Asked, grant.Optional(g.Manifest), methods(g)
	if len(approve) > 0 {
		if err := next.approve(approve); err != nil {
			return err
		}
	}
	done.Waiting = next.Waiting()
	done.Replaces = next.Version
	done.Pending = next.Hash != g.Hash && next.held(before)
	next.PendingVersion, next.PendingHash, next.PendingPublisher = g.Manifest.Version, g.Hash, g.Publisher
	if !done.Pending {
		next.succeed()
	}
	next.settle()
	done.Status = next.Status
	return nil
}

// after makes what was written true in this process, so that who asked for it
// finds it done. A plugin that does not load all the same is an error.
func (s *Site) after(ctx context.Context, plugin string) error {
	if err := s.sync(ctx); err != nil {
		return err
	}
	r := s.cfg.Records.of(plugin)
	if r == nil || !r.Stored() || r.Status == Disabled || r.Hash == "" {
		return nil
	}
	if g := s.cfg.Table.Generation(r.Source); g == nil || g.Hash != r.Hash {
		return fault.New(fault.Unavailable, "", "%s %s is installed, and cannot be loaded: see the log", plugin, r.Version)
	}
	return nil
}

// open is the site's services, once it is open.
func (s *Site) open() (dispatch.Services, error) {
	sv := s.cfg.Services()
	if sv.Store == nil {
		return sv, fault.New(fault.Unavailable, "", "The site is not open yet")
	}
	return sv, nil
}

// invalid is an error of a load as who sent the bundle gets it.
func invalid(err error) error {
	if f := fault.From(err); f.Kind != fault.Internal {
		return fault.Wrap(f.Kind, f.Type, err, "%s", f.Message)
	}
	return fmt.Errorf("check the plugin: %w", err)
}

// names is an argument that is a list of text, or text with commas.
func names(v any) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			return listed(v)
		}
	case []any:
		var all []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}
