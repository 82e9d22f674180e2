package registry

import (
	"context"

	"armature/core/file/backend"
	"armature/core/site"
)

// Registry is the list of the sites of an installation and the configuration of
// each: folders of this machine where the sites are SQLite files, and tables of
// the database where all of them are in one, so that any number of machines have
// the same sites without sharing a disk. It may be used by many goroutines.
//
// A site that is not there is fs.ErrNotExist, a name that is taken fs.ErrExist.
type Registry interface {
	// Look returns the sites there are, by name. What has not changed since the
	// last look is the same Record; where nothing has, a look is cheap.
	Look(ctx context.Context) ([]*Record, error)
	// Enter is called before a site is opened: it is fs.ErrNotExist where the site
	// is gone, or where another one is under its name, and otherwise makes what
	// this machine lacks of its folder.
	Enter(ctx context.Context, r *Record) error
	// Left is told of a site that was found to be gone.
	Left(ctx context.Context, r *Record)
	// Ping reports whether the sites can be read.
	Ping(ctx context.Context) error

	// Create makes a site, empty and without a configuration.
	Create(ctx context.Context, name string) error
	// Configure replaces a site's configuration by what change makes of it, which
	// may be given one that cannot be used, to mend it. Of several at once none
	// undoes what another did. change may be called again.
	Configure(ctx context.Context, name string, change func(*site.Config) (*site.Config, error)) (*site.Config, error)
	// Drop takes a site away, keeps what it has and says where.
	Drop(ctx context.Context, name string) (Kept, error)
	// Undrop brings back the site that was dropped last under a name.
	Undrop(ctx context.Context, name string) error
	// Erase deletes a site for good, with everything it has, and tells how many
	// others of the name it keeps that were dropped or are half erased, where it
	// knows. Servers let go of it within a second; requests that are running fail.
	Erase(ctx context.Context, name string) (kept int, err error)

	// ClaimMaintenance reports whether the daily housekeeping of a site is due, and is the
	// caller's to do: of all servers one is told so.
	ClaimMaintenance(ctx context.Context, r *Record) (bool, error)

	// Stage makes room for a site where nobody sees it.
	Stage(ctx context.Context, name string) (Stage, error)
	// Sweep removes what is left of sites whose making was broken off a day ago or
	// earlier, and finishes erasing what was half erased then.
	Sweep(ctx context.Context) error

	Close() error
}

// Record is one site as a registry has it. It never changes: of a site that was
// changed there is another Record.
type Record struct {
	Name   string
	Config *site.Config
	// Broken is why the configuration that is there cannot be used; Config is then
	// the last one that could be, or an empty one.
	Broken error

	Place
	ID string // tells it from a site of the same name that was made later
}

// Find is the record of a site; nil when there is none.
func Find(list []*Record, name string) *Record {
	for _, r := range list {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Place is where a site keeps what it has.
type Place struct {
	Folder   string // name of its folder on each machine, and of its part of a bucket
	Database string // of the site: a URL, or a path
	Schema   string // in a PostgreSQL database
}

// Bucket is where in object storage a site keeps its files; empty where it keeps
// them on disk.
func (r *Record) Bucket() (bucket, prefix string) { return backend.Bucket(r.Config, r.Folder) }

// Kept is where the things of a site are that was dropped.
type Kept struct {
	Folder string // path; empty: where it was, if there is one
	Schema string // of PostgreSQL; empty: none
}

// Stage is a site that is being made.
type Stage interface {
	Place() Place
	// Dir is its folder for now.
	Dir() string
	// Publish has the site there with a configuration. One of its name is
	// fs.ErrExist, unless it is to be replaced: then it is dropped in the same
	// moment, or as soon before it as the registry can.
	Publish(ctx context.Context, config *site.Config, replace bool) (replaced Kept, err error)
	// Discard removes what was made; after Publish has failed, too.
	Discard() error
}
