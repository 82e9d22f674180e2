package document

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
	"armature/core/query"
)

func (s *Service) appendList(ctx context.Context, tx Tx, caller *identity.Caller, dst []byte, doctype string, q *query.Query) ([]byte, error) {
	dt, err := s.listable(caller, doctype)
	if err != nil {
		return dst, err
	}
	r, err := s.resolve(ctx, tx, caller, dt, q)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	if len(q.Expand) > 0 || len(r.nested) > 0 {
		dst, err = r.appendPage(dst, q)
	} else {
		dst, _, err = tx.AppendRows(ctx, dst, r.sel, q.AsArrays)
	}
	if err != nil {
		return dst, err
	}
	return append(dst, ']'), nil
}

func (s *Service) count(ctx context.Context, tx Tx, caller *identity.Caller, doctype string, q *query.Query) (int64, error) {
	dt, err := s.listable(caller, doctype)
	if err != nil {
		return 0, err
	}
	r, err := s.resolve(ctx, tx, caller, dt, &query.Query{Filter: q.Filter, Parent: q.Parent})
	if err != nil {
		return 0, err
	}
	r.sel.Order = nil
	return tx.Count(ctx, r.sel)
}

// listable finds the DocType of a list. Whether a DocType exists is told only to
// those who are logged in.
func (s *Service) listable(caller *identity.Caller, doctype string) (*doctype.DocType, error) {
	dt, err := s.lookup(doctype)
	if err != nil && caller.IsGuest() {
		return nil, fault.Denied("User %s does not have read access to %s", caller.User, doctype)
	}
	return dt, err
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// column returns the distinct texts of some columns.
func column(page [][]any, columns ...int) []any {
	seen := make(map[string]bool, len(page))
	var names []any
	for _, row := range page {
		for _, i := range columns {
			if name, _ := row[i].(string); name != "" && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// linked reads the documents of those names that the caller may read, as JSON
// objects by name: all readable columns, no child tables, no doctype key.
func (s *Service) linked(ctx context.Context, tx Tx, caller *identity.Caller, typeName string, names []any) (map[string][]byte, error) {
	dt := s.Schema().DocType(typeName)
	if dt == nil || dt.Single || dt.Child || len(names) == 0 || !s.readsSome(caller, dt) {
		return nil, nil
	}
	r, err := s.resolve(ctx, tx, caller, dt, &query.Query{
		Fields: []query.Field{{Star: true}},
		Filter: query.Cond{Ref: query.Ref{Name: "name"}, Op: query.In, Value: names},
	})
	if err != nil {
		return nil, err
	}
	objects := make(map[string][]byte, len(names))
	err = tx.Rows(ctx, r.sel, func(values []any) error {
		object := []byte{'{'}
		for i, c := range r.sel.Columns {
			if i > 0 {
				object = append(object, ',')
			}
			object = doctype.AppendValue(doctype.AppendKey(object, c.Key), c.Field, values[i])
		}
		name, _ := values[doctype.ColName].(string)
		objects[name] = append(object, '}')
		return nil
	})
	return objects, err
}

// readsSome reports whether the caller may read any document of the DocType.
func (s *Service) readsSome(caller *identity.Caller, dt *doctype.DocType) bool {
	return s.inScope(caller, dt, permission.Read) == nil &&
		(permission.For(dt.Permissions, caller, permission.Read) != permission.None || slices.Contains(caller.Shared, dt.Name))
}
