package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

func (s *Service) appendList(ctx context.Context, tx Tx, caller *identity.Caller, dst []byte, typeName string, q *query.Query) ([]byte, error) {
	dt, err := s.listable(caller, typeName)
	if err != nil {
		return dst, err
	}
	rights := s.may(tx, caller)
	l, err := rights.Resolve(ctx, dt, q)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	l.Select.MaxBytes = s.maxAnswer()
	if len(q.Expand) > 0 || len(l.Nested) > 0 || repeats(l.Select.Columns) {
		dst, err = appendPage(ctx, tx, dst, rights, l, q)
	} else {
		dst, _, err = tx.AppendRows(ctx, dst, l.Select, q.AsArrays)
	}
	if err != nil {
		return dst, s.answerTooLarge(err)
	}
	return append(dst, ']'), nil
}

func (s *Service) count(ctx context.Context, tx Tx, caller *identity.Caller, typeName string, q *query.Query) (int64, error) {
	dt, err := s.listable(caller, typeName)
	if err != nil {
		return 0, err
	}
	l, err := s.may(tx, caller).Resolve(ctx, dt, &query.Query{Filter: q.Filter, Parent: q.Parent})
	if err != nil {
		return 0, err
	}
	l.Select.Order = nil
	return tx.Count(ctx, l.Select)
}

// listable finds the DocType of a list. Whether a DocType exists is told only to
// those who are logged in.
func (s *Service) listable(caller *identity.Caller, typeName string) (*doctype.DocType, error) {
	dt, err := s.lookup(typeName)
	if err != nil && caller.IsGuest() {
		return nil, fault.Denied("User %s does not have read access to %s", caller.User, typeName)
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
// objects by name: all readable columns, no child tables, no doctype key. They
// may have most bytes together.
func linked(ctx context.Context, tx Tx, rights *access.Rights, typeName string, names []any, most int) (map[string][]byte, error) {
	sel, err := rights.Linked(ctx, rights.Schema.DocType(typeName), names)
	if sel == nil || err != nil {
		return nil, err
	}
	objects := make(map[string][]byte, len(names))
	err = tx.Rows(ctx, sel, func(values []any) error {
		object := []byte{'{'}
		for i, c := range sel.Columns {
			if i > 0 {
				object = append(object, ',')
			}
			object = doctype.AppendValue(doctype.AppendKey(object, c.Key), c.Field, values[i])
		}
		name, _ := values[doctype.ColName].(string)
		objects[name] = append(object, '}')
		if most -= len(object); most < 0 {
			return doctype.ErrTooManyBytes
		}
		return nil
	})
	return objects, err
}
