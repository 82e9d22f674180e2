package sites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/migration"
	"armature/core/query"
	"armature/core/site"
	"armature/core/store"
)

// takenConfig is what a configuration file is called once its content is in the
// database.
const takenConfig = "site_config.taken-over.json"

// takeOver brings the table and the folders of this machine together. A folder
// that the table has never heard of is a site from before there was a table, or
// one that was prepared for its first start: it becomes a row, once and for all.
// What is left of erased sites is removed.
func (r *records) takeOver(ctx context.Context, db *store.Store) error {
	names, err := newFolders(r.c.Layout, r.c.Logger).names()
	if err != nil {
		return err
	}
	schemas := make([]any, len(names))
	for i, name := range names {
		schemas[i] = schemaPrefix + name
	}
	rows, err := r.read(ctx, db, doctype.Compare{Operand: operand("name"), Op: query.In, Value: schemas})
	if err != nil {
		return err
	}
	known := make(map[string]row, len(rows))
	for _, one := range rows {
		known[folderOf(one.schema)] = one
	}
	for _, name := range names {
		one, ok := known[name]
		switch {
		case !ok:
			err = r.adopt(ctx, db, name)
		case one.state == erased:
			err = r.removeErased(one)
		case one.state == live && one.config == "":
			err = r.adoptConfig(ctx, db, one)
		case one.state == live:
			r.tellUnread(name)
		}
		if err != nil {
			return err
		}
	}
	return r.adoptDefault(ctx, db)
}

// proveMaster is site.ErrWrongMaster where the database has sites that are about
// to be taken over and the master key opens the key of none. One is enough: what
// else there is may be left of another installation.
func (r *records) proveMaster(ctx context.Context) error {
	schemas, err := store.SchemasWith(ctx, r.c.Database, schemaPrefix, migration.Table)
	if err != nil {
		return err
	}
	if r.c.Schema != DefaultRegistry { // the others may be those of the default one
		schemas = slices.DeleteFunc(schemas, func(schema string) bool {
			_, err := os.Stat(r.c.Layout.Site(folderOf(schema)))
			return err != nil
		})
	}
	var wrong error
	for _, schema := range schemas {
		err := r.opensKey(ctx, schema)
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
func (r *records) opensKey(ctx context.Context, schema string) (err error) {
	o := r.c.Store
	o.Logger, o.MaxConns, o.Budget = r.c.Logger, 1, nil
	db, err := store.Open(ctx, r.c.Database, schema, o)
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
	_, err = r.c.Master.OpenSecret(sealed)
	return err
}

// removeErased removes what this machine has of an erased site: not a folder that
// somebody has put something into since.
func (r *records) removeErased(one row) error {
	folder := r.c.Layout.Site(folderOf(one.schema))
	at, err := time.Parse(doctype.DatetimeLayout, one.modified)
	if err != nil {
		return err
	}
	if info, err := os.Stat(folder); err != nil || info.ModTime().After(at) {
		r.c.Logger.Warn("a folder has the name of a site that was erased, and is newer: it is no site's", "folder", folder)
		return nil
	}
	return os.RemoveAll(folder)
}

// adoptDefault takes over the default site of an installation whose servers had
// it in the database and no folder of it in common. It is not one that this
// machine knows to be dropped, and where there are other sites none is missed
// that may have been dropped on another. A registry of another name is younger
// than all such.
func (r *records) adoptDefault(ctx context.Context, db *store.Store) error {
	if r.c.Schema != DefaultRegistry {
		return nil
	}
	rows, err := r.read(ctx, db, doctype.AnyOf{is("site", site.Default), is("state", live)})
	if err != nil || len(rows) > 0 {
		return err
	}
	gone, err := newFolders(r.c.Layout, r.c.Logger).dropped(site.Default)
	if err != nil || gone {
		return err
	}
	found, err := store.HasSchema(ctx, r.c.Database, schemaPrefix+site.Default)
	if err != nil || !found {
		return err
	}
	return r.adopt(ctx, db, site.Default)
}

// adopt makes a row of a site that has none, with the configuration that its
// folder has. One that cannot be read is an error where there would be a new site
// in the place of one that has data.
func (r *records) adopt(ctx context.Context, db *store.Store, name string) error {
	log := r.c.Logger.With("site", name)
	one := row{schema: schemaPrefix + name, site: name, state: live}
	config, err := r.readFile(one)
	if err != nil {
		there, failed := store.HasSchema(ctx, r.c.Database, one.schema)
		if failed != nil {
			return failed
		}
		if there || name == site.Default { // which would be made anew, empty
			return unreadable(one, r.c.Layout.Config(name), err)
		}
		log.Error("a site is not taken into the database: its configuration cannot be read; correct it and start again", "file", r.c.Layout.Config(name), "error", err)
		return nil
	}
	one.config = config
	err = r.insert(ctx, db, one)
	switch fault.KindOf(err) {
	case fault.Conflict: // another process has just done it
		return nil
	case fault.Validation:
		log.Warn("a folder is not taken into the database: there is another site of the name", "folder", r.c.Layout.Site(name))
		return nil
	}
	if err != nil {
		return err
	}
	log.Info("the site was taken into the database, which has its configuration from now on", "schema", one.schema)
	r.setAside(one)
	return nil
}

// adoptConfig gives a site the configuration that its folder on this machine has,
// where nobody has configured it yet: a machine without the folder may have been
// the first to take it over.
func (r *records) adoptConfig(ctx context.Context, db *store.Store, one row) error {
	config, err := r.readFile(one)
	if err != nil {
		return unreadable(one, r.c.Layout.Config(folderOf(one.schema)), err)
	}
	if config == "" {
		return nil
	}
	taken := false
	err = db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		taken = false
		doc, err := tx.Get(ctx, siteSchema(), siteTable(), one.schema, true)
		if err != nil || doc.Text("config") != "" { // somebody else was faster
			return err
		}
		taken = true
		if _, err := tx.UpdateIf(ctx, siteTable(), one.schema, nil, map[string]any{"config": config, "modified": stamp()}); err != nil {
			return err
		}
		return tx.BumpEpoch(ctx)
	})
	if err != nil {
		return err
	}
	if !taken {
		r.tellUnread(one.site)
		return nil
	}
	r.c.Logger.Info("the configuration of the site was taken into the database, which has it from now on", "site", one.site, "schema", one.schema)
	r.setAside(one)
	return nil
}

// readFile reads the configuration in the folder of a site, sealed; empty: there
// is none.
func (r *records) readFile(one row) (string, error) {
	text, err := os.ReadFile(r.c.Layout.Config(folderOf(one.schema)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	config, err := ParseConfig(text)
	if err != nil {
		return "", err
	}
	return r.seal(one.schema, config)
}

func unreadable(one row, file string, err error) error {
	return fmt.Errorf("site %s is not taken into the database: its configuration %s cannot be read; correct it and start again: %w", one.site, file, err)
}

// setAside gives a file that has been taken over a name that says so.
func (r *records) setAside(one row) {
	file := r.c.Layout.Config(folderOf(one.schema))
	err := os.Rename(file, filepath.Join(filepath.Dir(file), takenConfig))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.tellUnread(one.site)
	}
}

// tellUnread warns of a configuration file that somebody may believe in.
func (r *records) tellUnread(name string) {
	if _, err := os.Stat(r.c.Layout.Config(name)); err == nil {
		r.c.Logger.Warn("the file is not read: the site's configuration is in the database; change it with armature site config",
			"site", name, "file", r.c.Layout.Config(name))
	}
}
