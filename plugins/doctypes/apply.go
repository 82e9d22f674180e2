package doctypes

import (
	"context"
	"fmt"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
)

// Apply installs the DocTypes as the caller, who must be allowed to. Each is a
// transaction of its own: a DocType is known to others only once it is there.
// Those that point at each other come in two steps, first without the fields
// that lead nowhere yet. It returns what it did.
func Apply(ctx context.Context, store document.Store, documents *document.Service, caller *identity.Caller, all []*DocType) ([]Step, error) {
	var steps []Step
	err := store.Read(ctx, func(tx document.Tx) (err error) {
		steps, err = Plan(ctx, tx, documents, all)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := makeRoles(ctx, store, documents, caller, steps); err != nil {
		return nil, err
	}
	for _, dt := range childrenFirst(all) {
		if documents.Schema().DocType(dt.Name) != nil {
			continue
		}
		if err := write(ctx, store, func(tx document.Tx) error {
			_, err := documents.As(caller, tx).Insert(ctx, doctype.DocTypeName, dt.without(documents.Schema()))
			return err
		}); err != nil {
			return nil, fmt.Errorf("make DocType %s: %w", dt.Name, err)
		}
	}
	for _, dt := range all {
		if err := dt.complete(ctx, store, documents, caller); err != nil {
			return nil, fmt.Errorf("change DocType %s: %w", dt.Name, err)
		}
	}
	return steps, nil
}

// complete brings a DocType that is there to what the plugin ships.
func (dt *DocType) complete(ctx context.Context, store document.Store, documents *document.Service, caller *identity.Caller) error {
	var s Step
	err := store.Read(ctx, func(tx document.Tx) (err error) {
		s, err = dt.plan(ctx, tx, documents)
		return err
	})
	if err != nil || s.Action == Keep {
		return err
	}
	return write(ctx, store, func(tx document.Tx) error {
		_, err := documents.As(caller, tx).Update(ctx, doctype.DocTypeName, dt.Name, dt.whole())
		return err
	})
}

func write(ctx context.Context, store document.Store, fn func(document.Tx) error) error {
	return store.Write(ctx, document.OwnTx, fn)
}

// childrenFirst puts child tables before what holds them.
func childrenFirst(all []*DocType) []*DocType {
	var children, others []*DocType
	for _, dt := range all {
		if v, err := doctype.Coerce(&doctype.Field{Name: "istable", Type: "Check", Kind: doctype.Check}, dt.values["istable"], nil); err == nil && v == int64(1) {
			children = append(children, dt)
		} else {
			others = append(others, dt)
		}
	}
	return append(children, others...)
}
