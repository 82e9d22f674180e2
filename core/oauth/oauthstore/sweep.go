package oauthstore

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// maxSwept bounds how many rows one transaction clears away, so that nobody
// waits for it for long.
const maxSwept = 200

// Sweep deletes what is past use: what has expired and has stayed, so that using
// it once more was noticed, for as long as a refresh token lives. It goes on until
// nothing is left or ctx ends, and reports how many rows there were.
func (s *Store) Sweep(ctx context.Context) (total int, err error) {
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return 0, err
	}
	// A code that was used is kept as long as what it was exchanged for. A token
	// that has expired counts for nothing, used or not; a day is for those who ask.
	now := s.c.Now()
	for _, kind := range []struct {
		doctype string
		before  int64
	}{
		{CodeName, now.Add(-lifetimes.Refresh).Unix()},
		{DeviceName, now.AddDate(0, 0, -1).Unix()},
		{TokenName, now.AddDate(0, 0, -1).Unix()},
		{GrantName, now.AddDate(0, 0, -1).Unix()},
	} {
		for ctx.Err() == nil {
			n, err := s.sweep(ctx, kind.doctype, kind.before)
			total += n
			if err != nil {
				return total, err
			}
			if n < maxSwept {
				break
			}
		}
	}
	return total, ctx.Err()
}

func (s *Store) sweep(ctx context.Context, typeName string, before int64) (n int, err error) {
	dt, err := s.docType(typeName)
	if err != nil {
		return 0, err
	}
	sel := &doctype.Select{
		DocType: dt, Length: maxSwept,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("name")}, Key: "name"}},
		Where:   compare(dt, "expires", query.Lt, before),
	}
	err = s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		var names []string
		err := tx.Rows(ctx, sel, func(v []any) error {
			name, _ := v[0].(string)
			names = append(names, name)
			return nil
		})
		if err != nil {
			return err
		}
		slices.Sort(names) // in one order everywhere: two who sweep do not wait for each other
		for _, name := range names {
			if _, err := tx.Delete(ctx, s.c.Catalog.Schema(), dt, name); err != nil {
				return err
			}
		}
		n = len(names)
		return nil
	})
	return n, err
}
