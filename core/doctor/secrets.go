package doctor

import (
	"context"
	"fmt"
	"slices"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/store"
)

// Sealed is a field of a DocType of the platform in which a service keeps a secret
// under the site's key, sealed for a purpose of its own.
type Sealed struct {
	DocType, Field string
	Purpose        func(name string) string // of the secret in the document of that name
}

// secrets finds values of Password fields that the site's key does not open. What the
// platform's own DocTypes keep in such fields without being listed as sealed are
// hashes.
func secrets(ctx context.Context, p *Patient, find func(Finding)) error {
	err := p.Store.Snapshot(ctx, func(n *store.Snapshot) error {
		all := slices.Clone(p.Private)
		for dt := range p.Schema.All {
			all = append(all, dt)
		}
		for _, dt := range all {
			for _, f := range dt.Columns {
				purpose := p.purpose(dt, f)
				if purpose == nil {
					continue
				}
				closed, err := unreadable(ctx, n, p, dt, f, purpose)
				if err != nil {
					return fmt.Errorf("%s.%s: %w", dt.Name, f.Name, err)
				}
				if len(closed) > 0 {
					find(Finding{Subject: dt.Name + "." + f.Name, Message: fmt.Sprintf("%d secrets cannot be opened with the key of the site: %s", len(closed), examples(closed))})
				}
			}
		}
		return nil
	})
	if err == nil && p.Configured != nil {
		if wrong := p.Configured(); wrong != nil {
			find(Finding{Subject: "configuration", Message: "a secret in it cannot be used: " + wrong.Error()})
		}
	}
	return err
}

// passkeys finds those that are bound to a domain which the site has left.
func passkeys(ctx context.Context, p *Patient, find func(Finding)) error {
	if p.Passkeys == nil {
		return nil
	}
	said, err := p.Passkeys(ctx)
	for _, line := range said {
		find(Finding{Subject: "passkeys", Message: line})
	}
	return err
}

// purpose is what a field's secrets are sealed for; nil: there are none in it.
func (p *Patient) purpose(dt *doctype.DocType, f *doctype.Field) func(name string) string {
	if dt.Custom {
		if !f.IsPassword() {
			return nil
		}
		return func(string) string { return document.SealPurpose(dt.Name, f.Name) }
	}
	for _, s := range p.Sealed {
		if s.DocType == dt.Name && s.Field == f.Name {
			return s.Purpose
		}
	}
	return nil
}

func unreadable(ctx context.Context, n *store.Snapshot, p *Patient, dt *doctype.DocType, f *doctype.Field, purpose func(string) string) (names []string, err error) {
	op := doctype.Operand{Field: f}
	name := doctype.Operand{Field: dt.Columns[doctype.ColName]}
	err = n.Rows(ctx, &doctype.Select{
		DocType: dt, Columns: []doctype.Column{{Operand: name, Key: "name"}, {Operand: op, Key: f.Name}},
		Where: doctype.Compare{Operand: op, Op: query.Is, Value: true},
	}, func(v []any) error {
		sealed, _ := v[1].(string)
		if sealed == "" {
			return nil
		}
		if _, err := p.Sealer.Open(purpose(fmt.Sprint(v[0])), sealed); err != nil {
			names = append(names, fmt.Sprint(v[0]))
		}
		return nil
	})
	return names, err
}
