package sitetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/tenant"
)

// password is the Administrator's on every site of New.
const password = "correct horse battery"

// blank is a site as it is when it has just been made on SQLite: the master key of its
// installation, and its database.
type blank struct{ key, database []byte }

// newBlank makes one for all tests of a package. Making a site takes most of the time
// of a small test, and under the race detector nearly all of it; a copy is a file.
var newBlank = sync.OnceValues(func() (b blank, err error) {
	dir, err := os.MkdirTemp("", "sitetest-*")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	layout := datafolder.Layout{Data: dir}
	if err := layout.Make(); err != nil {
		return b, err
	}
	master, err := site.LoadMaster(layout.MasterKey())
	if err != nil {
		return b, err
	}
	set := sites.NewSet(sites.Config{Config: tenant.Config{Master: master, Version: "test", Password: password}, Layout: layout})
	_, err = set.Create(context.Background(), site.Default)
	set.CloseAll() // after which all of it is in the file
	if err != nil {
		return b, err
	}
	if b.key, err = os.ReadFile(layout.MasterKey()); err != nil {
		return b, err
	}
	b.database, err = os.ReadFile(filepath.Join(layout.Site(site.Default), "site.db"))
	return b, err
})

// unpack makes an installation whose one site is a copy.
func (b blank) unpack(layout datafolder.Layout, name string) error {
	if err := os.Mkdir(layout.Site(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(layout.Site(name), "site.db"), b.database, 0o600)
}

// copies reports whether a copy is as good as a site that is made with a configuration.
func copies(c *sites.Config, master *site.Master) bool {
	return c.Database == "" && c.Master == master && c.Password == password && c.Plan == nil && c.Wrap == nil && c.Clock == nil && c.Announce == nil
}
