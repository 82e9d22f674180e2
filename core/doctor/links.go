package doctor

import (
	"context"
	"fmt"

	"armature/core/doctype"
	"armature/core/store"
)

// links finds values of Link and Dynamic Link fields that lead nowhere.
func links(ctx context.Context, p *Patient, find func(Finding)) error {
	return p.Store.Snapshot(ctx, func(n *store.Snapshot) error {
		for dt := range p.Schema.All {
			for _, f := range dt.Columns {
				l := linkField{n, p, dt, f, find}
				var err error
				switch {
				case f.IsLink():
					err = l.fixed(ctx)
				case f.IsDynamicLink():
					err = l.dynamic(ctx)
				}
				if err != nil {
					return fmt.Errorf("%s.%s: %w", dt.Name, f.Name, err)
				}
			}
		}
		return nil
	})
}

// linkField is a field whose values are names of documents.
type linkField struct {
	n    *store.Snapshot
	p    *Patient
	dt   *doctype.DocType
	f    *doctype.Field
	find func(Finding)
}

func (l linkField) found(format string, args ...any) {
	l.find(Finding{Subject: l.dt.Name + "." + l.f.Name, Message: fmt.Sprintf(format, args...)})
}

// fixed looks at a Link, all of whose values are names of one DocType.
func (l linkField) fixed(ctx context.Context) error {
	var values []string
	if err := distinct(ctx, l.n, l.dt, []*doctype.Field{l.f}, func(v []string) { values = append(values, v[0]) }); err != nil {
		return err
	}
	return l.lead(ctx, l.f.Options, values)
}

// dynamic looks at a Dynamic Link: another field says the DocType of each value.
func (l linkField) dynamic(ctx context.Context) error {
	kind := l.dt.Field(l.f.Options)
	if kind == nil || kind.Index < 0 {
		l.found("the field %q is to say where it leads to, and is not there", l.f.Options)
		return nil
	}
	values := map[string][]string{}
	err := distinct(ctx, l.n, l.dt, []*doctype.Field{kind, l.f}, func(v []string) { values[v[0]] = append(values[v[0]], v[1]) })
	for target, names := range values {
		if kind.IsLink() && l.p.Schema.DocType(target) == nil {
			continue // found as what that field links to
		}
		if err == nil {
			err = l.lead(ctx, target, names)
		}
	}
	return err
}

// lead finds the names that are those of no document of a DocType.
func (l linkField) lead(ctx context.Context, typeName string, names []string) error {
	target := l.p.Schema.DocType(typeName)
	switch {
	case len(names) == 0:
		return nil
	case target == nil:
		l.found("links to %q, a DocType that does not exist", typeName)
		return nil
	case target.Single:
		return nil
	}
	gone, err := absent(ctx, l.n, target, names)
	if err == nil && len(gone) > 0 {
		l.found("links to %d documents of %s that do not exist: %s", len(gone), target.Name, examples(gone))
	}
	return err
}
