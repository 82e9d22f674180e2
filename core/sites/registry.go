package sites

import (
	"cmp"
	"log/slog"

	"armature/core/site"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/sites/registry/folders"
	"armature/core/sites/registry/records"
	"armature/core/store"
)

// RegistryConfig is what says which Registry an installation has.
type RegistryConfig struct {
	Layout   datafolder.Layout
	Database string       // URL of the PostgreSQL database of all sites; empty: a SQLite file per site
	Schema   string       // of the database, for the registry itself; empty: that of an installation that has the database alone
	Master   *site.Master // seals configurations in a database
	Logger   *slog.Logger // nil: nothing is logged
	Store    store.Options
}

// NewRegistry makes the registry of an installation. It opens nothing.
func NewRegistry(c RegistryConfig) registry.Registry {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Database == "" {
		return folders.New(c.Layout, c.Logger)
	}
	return records.New(records.Config{
		Layout: c.Layout, Database: c.Database, Schema: c.Schema, Master: c.Master, Logger: c.Logger, Store: c.Store,
	})
}

// QueueSchema is the schema of a PostgreSQL database in which the jobs of its sites are
// handed over; schema is that of the registry, and may be empty.
func QueueSchema(schema string) string {
	return cmp.Or(schema, records.DefaultSchema) + "_jobs"
}
