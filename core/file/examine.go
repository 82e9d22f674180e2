package file

import (
	"context"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// Examined is what is wrong with the bytes of a site's files, by their keys.
type Examined struct {
	Orphans []string // that no File refers to
	Trashed []string // that a File refers to and that are in the trash
	Missing []string // that a File refers to and that are nowhere
}

// Examine compares the storage with the Files, and changes nothing.
func (s *Service) Examine(ctx context.Context) (e Examined, err error) {
	if e.Orphans, _, err = s.orphans(ctx, s.now().Add(-abandoned)); err != nil {
		return e, err
	}
	there := map[string]bool{}
	for _, prefix := range []string{blobs, trash} {
		err := s.storage.List(ctx, prefix, func(o Object) error {
			key := o.Key
			if strings.HasPrefix(key, trash) {
				key, _, _ = trashed(key)
				there[trash+key] = true
			} else {
				there[key] = true
			}
			return nil
		})
		if err != nil {
			return e, err
		}
	}
	return e, s.eachKey(ctx, func(key string) {
		switch {
		case there[key]:
		case there[trash+key]:
			e.Trashed = append(e.Trashed, key)
		default:
			e.Missing = append(e.Missing, key)
		}
	})
}

// eachKey hands over the keys that Files refer to, each once.
func (s *Service) eachKey(ctx context.Context, fn func(string)) error {
	dt, err := s.doctype()
	if err != nil {
		return err
	}
	op := doctype.Operand{Field: dt.Field("storage_key")}
	return s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, &doctype.Select{
			DocType: dt, Columns: []doctype.Column{{Operand: op, Key: "storage_key"}}, Group: []doctype.Operand{op},
			Where: doctype.Compare{Operand: op, Op: query.Is, Value: true},
		}, func(v []any) error {
			if key, _ := v[0].(string); key != "" {
				fn(key)
			}
			return nil
		})
	})
}

// BringBack moves bytes that a File refers to out of the trash.
func (s *Service) BringBack(ctx context.Context) error { return s.bringBack(ctx) }
