package records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"armature/core/fault"
	"armature/core/migration"
	"armature/core/site"
	"armature/core/store"
)

// checkMaster is site.ErrWrongMaster where the configurations are sealed with
// another master key. The first process to come leaves a row to tell it by, unless
// there are sites from before there was a table and it cannot open their keys.
func (t *table) checkMaster(ctx context.Context, keys []row) error {
	if len(keys) == 0 {
		if err := t.proveMaster(ctx); err != nil {
			return err
		}
		err := t.insert(ctx, row{schema: t.c.Schema, state: keyed, config: t.c.Master.SealConfig(keyed, nil)})
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
		if keys, err = t.read(ctx, is("state", keyed)); err != nil { // somebody else was faster
			return err
		}
	}
	for _, one := range keys {
		if _, err := t.c.Master.OpenConfig(keyed, one.config); err != nil {
			return err
		}
	}
	return nil
}

// proveMaster is site.ErrWrongMaster where the database has sites that are about
// to be taken over and the master key opens the key of none. One is enough: what
// else there is may be left of another installation.
func (t *table) proveMaster(ctx context.Context) error {
	schemas, err := store.SchemasWith(ctx, t.c.Database, schemaPrefix, migration.Table)
	if err != nil {
		return err
	}
	if t.c.Schema != DefaultSchema { // the others may be those of the default one
		schemas = slices.DeleteFunc(schemas, func(schema string) bool {
			_, err := os.Stat(t.c.Layout.Site(folderOf(schema)))
			return err != nil
		})
	}
	var wrong error
	for _, schema := range schemas {
		err := t.opensKey(ctx, schema)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, site.ErrWrongMaster):
			wrong = err
		case fault.KindOf(err) != fault.NotFound:
			return fmt.Errorf("read the key of the site in the schema %s: %w", schema, err)
		}
	}
	return wrong
}

// opensKey tries the master key on the key of the site in a schema, whichever
// version made it; one that was not made to its end has none and is not found.
func (t *table) opensKey(ctx context.Context, schema string) (err error) {
	o := t.c.Store
	o.Logger, o.MaxConns, o.Budget = t.c.Logger, 1, nil
	db, err := store.Open(ctx, t.c.Database, schema, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sealed, err := migration.Sealed(ctx, db)
	if err != nil {
		return err
	}
	if sealed == "" {
		return fault.Missing("the schema %s has no key", schema)
	}
	_, err = t.c.Master.OpenSecret(sealed)
	return err
}
