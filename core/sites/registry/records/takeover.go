package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
	"armature/core/site"
	"armature/core/sites/registry"
	"armature/core/sites/registry/folders"
	"armature/core/store"
)

// takenConfig is what a configuration file is called once its content is in the
// database.
const takenConfig = "site_config.taken-over.json"

// takeOver brings the table and the folders of this machine together. A folder
// that the table has never heard of is a site from before there was a table, or
// one that was prepared for its first start: it becomes a row, once and for all.
// What is left of erased sites is removed.
func (t *table) takeOver(ctx context.Context) error {
	names, err := folders.Names(t.c.Layout)
	if err != nil {
		return err
	}
	schemas := make([]any, len(names))
	for i, name := range names {
		schemas[i] = schemaPrefix + name
	}
	rows, err := t.read(ctx, doctype.Compare{Operand: operand("name"), Op: query.In, Value: schemas})
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
			err = t.adopt(ctx, name)
		case one.state == erased:
			err = t.removeErased(one)
		case one.state == live && one.config == "":
			err = t.adoptConfig(ctx, one)
		case one.state == live:
			t.tellUnread(name)
		}
		if err != nil {
			return err
		}
	}
	return t.adoptDefault(ctx)
}

// removeErased removes what this machine has of an erased site: not a folder that
// somebody has put something into since.
func (t *table) removeErased(one row) error {
	folder := t.c.Layout.Site(folderOf(one.schema))
	at, err := time.Parse(doctype.DatetimeLayout, one.modified)
	if err != nil {
		return err
	}
	if info, err := os.Stat(folder); err != nil || info.ModTime().After(at) {
		t.c.Logger.Warn("a folder has the name of a site that was erased, and is newer: it is no site's", "folder", folder)
		return nil
	}
	return os.RemoveAll(folder)
}

// adoptDefault takes over the default site of an installation whose servers had
// it in the database and no folder of it in common. It is not one that this
// machine knows to be dropped, and where there are other sites none is missed
// that may have been dropped on another. A registry of another name is younger
// than all such.
func (t *table) adoptDefault(ctx context.Context) error {
	if t.c.Schema != DefaultSchema {
		return nil
	}
	rows, err := t.read(ctx, doctype.AnyOf{is("site", site.Default), is("state", live)})
	if err != nil || len(rows) > 0 {
		return err
	}
	gone, err := folders.Dropped(t.c.Layout, site.Default)
	if err != nil || gone {
		return err
	}
	found, err := store.HasSchema(ctx, t.c.Database, schemaPrefix+site.Default)
	if err != nil || !found {
		return err
	}
	return t.adopt(ctx, site.Default)
}

// adopt makes a row of a site that has none, with the configuration that its
// folder has. One that cannot be read is an error where there would be a new site
// in the place of one that has data.
func (t *table) adopt(ctx context.Context, name string) error {
	log := t.c.Logger.With("site", name)
	one := row{schema: schemaPrefix + name, site: name, state: live}
	config, err := t.readFile(one)
	if err != nil {
		there, failed := store.HasSchema(ctx, t.c.Database, one.schema)
		if failed != nil {
			return failed
		}
		if there || name == site.Default { // which would be made anew, empty
			return unreadable(one, t.c.Layout.Config(name), err)
		}
		log.Error("a site is not taken into the database: its configuration cannot be read; correct it and start again", "file", t.c.Layout.Config(name), "error", err)
		return nil
	}
	one.config = config
	err = t.insert(ctx, one)
	switch fault.KindOf(err) {
	case fault.Conflict: // another process has just done it
		return nil
	case fault.Validation:
		log.Warn("a folder is not taken into the database: there is another site of the name", "folder", t.c.Layout.Site(name))
		return nil
	}
	if err != nil {
		return err
	}
	log.Info("the site was taken into the database, which has its configuration from now on", "schema", one.schema)
	t.setAside(one)
	return nil
}

// adoptConfig gives a site the configuration that its folder on this machine has,
// where nobody has configured it yet: a machine without the folder may have been
// the first to take it over.
func (t *table) adoptConfig(ctx context.Context, one row) error {
	config, err := t.readFile(one)
	if err != nil {
		return unreadable(one, t.c.Layout.Config(folderOf(one.schema)), err)
	}
	if config == "" {
		return nil
	}
	taken := false
	err = t.db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
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
		t.tellUnread(one.site)
		return nil
	}
	t.c.Logger.Info("the configuration of the site was taken into the database, which has it from now on", "site", one.site, "schema", one.schema)
	t.setAside(one)
	return nil
}

// readFile reads the configuration in the folder of a site, sealed; empty: there
// is none.
func (t *table) readFile(one row) (string, error) {
	text, err := os.ReadFile(t.c.Layout.Config(folderOf(one.schema)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	config, err := registry.ParseConfig(text)
	if err != nil {
		return "", err
	}
	return t.seal(one.schema, config)
}

func unreadable(one row, file string, err error) error {
	return fmt.Errorf("site %s is not taken into the database: its configuration %s cannot be read; correct it and start again: %w", one.site, file, err)
}

// setAside gives a file that has been taken over a name that says so.
func (t *table) setAside(one row) {
	file := t.c.Layout.Config(folderOf(one.schema))
	err := os.Rename(file, filepath.Join(filepath.Dir(file), takenConfig))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.tellUnread(one.site)
	}
}

// tellUnread warns of a configuration file that somebody may believe in.
func (t *table) tellUnread(name string) {
	if _, err := os.Stat(t.c.Layout.Config(name)); err == nil {
		t.c.Logger.Warn("the file is not read: the site's configuration is in the database; change it with armature site config",
			"site", name, "file", t.c.Layout.Config(name))
	}
}
