// Package installation is a command's way to sites and their data, beside a server
// that may be running on them.
package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"armature/cmd/armature/terminal"
	"armature/core/fault"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/tenant"
)

// Installation is what the flags say of where the data is, for the commands that
// work on it beside a server that may be running.
type Installation struct {
	*terminal.Terminal
	Version string // of this program

	Data     string // folder of everything the server keeps
	Database string // URL of PostgreSQL; empty: every site is a SQLite file
	Redis    string
	Site     string // that is meant
	recreate bool   // a site whose database is missing begins with an empty one

	Publishers   string // public keys, separated by commas
	FolderLimits string // key=number, separated by commas
}

// AddFlags are those of every command.
func (in *Installation) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&in.Data, "data", "./data", "folder of everything the server keeps")
	flags.BoolVar(&in.recreate, "recreate", false, "let a site whose database is missing begin with an empty one")
	flags.StringVar(&in.Database, "database", "", "postgres:// URL; without it every site is a SQLite file. It may say password_file=PATH\nor password_command=COMMAND, which are asked for each connection")
	flags.StringVar(&in.Redis, "redis", "", "redis:// URL where several servers count rate limits together")
	flags.StringVar(&in.Site, "site", site.Default, "the site that is meant")
	flags.StringVar(&in.Publishers, "plugin-publishers", "", "public keys, separated by commas: plugins alone are taken that one of them\nhas signed; a site may ask for more")
	flags.StringVar(&in.FolderLimits, "plugin-folder-limits", "", "what a plugin in a folder of the server may use without an approval, such as\ncpu_ms=1000,memory=67108864; without it as much as its manifest says")
}

// Apart is an installation in another folder that prints nothing: its passwords are
// needed by nobody.
func (in *Installation) Apart(data string) *Installation {
	silent := &terminal.Terminal{Stdout: io.Discard, Stderr: io.Discard}
	return &Installation{Terminal: silent, Version: in.Version, Data: data, Site: site.Default}
}

func (in *Installation) Layout() datafolder.Layout { return datafolder.Layout{Data: in.Data} }

// Check refuses a database of a kind there is none of. A URL of another one would be
// taken for the path of a file.
func (in *Installation) Check() error {
	scheme, _, is := strings.Cut(in.Database, "://")
	if in.Database == "" || is && slices.Contains([]string{"postgres", "postgresql"}, scheme) {
		return nil
	}
	if !is {
		scheme = "without a URL" // what it is may have a password in it
	}
	return terminal.Misuse("--database %s: sites are in PostgreSQL, postgres://USER@HOST/DATABASE, or without --database in SQLite files under --data", scheme)
}

// Where is what the sites are on.
func (in *Installation) Where() string {
	if in.Database != "" {
		return "the database"
	}
	return in.Data
}

// NewSet makes the set of sites in the data folder, with the folders and the
// master key if they are missing. What c leaves out of where things are and who
// is told a password is filled in.
func (in *Installation) NewSet(c sites.Config) (*sites.Set, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	c.Layout = in.Layout()
	if err := c.Layout.Make(); err != nil {
		return nil, err
	}
	var err error
	if c.Master, err = in.master(); err != nil {
		return nil, err
	}
	c.Database, c.Version, c.Recreate = in.Database, in.Version, in.recreate
	c.Password, c.Announce = os.Getenv("ARMATURE_ADMIN_PASSWORD"), in.announce
	return sites.NewSet(c), nil
}

func (in *Installation) master() (*site.Master, error) {
	if text := os.Getenv("ARMATURE_SECRET_KEY"); text != "" {
		m, err := site.ParseMaster(text)
		if err != nil {
			return nil, fmt.Errorf("ARMATURE_SECRET_KEY: %w", err)
		}
		return m, nil
	}
	return site.LoadMaster(in.Layout().MasterKey())
}

// announce prints a password that exists nowhere else, once, where no log
// collector reads it as an event of its own and no pipe mistakes it for a
// result.
func (in *Installation) announce(name, user, password string) {
	change := "armature user password " + user
	if name != site.Default {
		change += " --site " + name
	}
	fmt.Fprintf(in.Stderr, "\n  New site %s. Password of %s: %s\n  It is shown once; change it with: %s\n\n", name, user, password, change)
}

// WithTenant opens the site that is meant, beside a server that may be running
// on the same data, and closes it again. The default site is made if it is
// missing.
func (in *Installation) WithTenant(ctx context.Context, fn func(*tenant.Tenant) error) error {
	set, err := in.NewSet(sites.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	t, err := in.OpenTenant(ctx, set)
	if err != nil {
		return err
	}
	return fn(t)
}

func (in *Installation) OpenTenant(ctx context.Context, set *sites.Set) (*tenant.Tenant, error) {
	t, err := set.Open(ctx, in.Site)
	if in.Site == site.Default && errors.Is(err, fs.ErrNotExist) {
		return OpenDefault(ctx, set)
	}
	return t, err
}

// OpenDefault makes the default site, unless somebody else has just done it.
func OpenDefault(ctx context.Context, set *sites.Set) (*tenant.Tenant, error) {
	t, err := set.Create(ctx, site.Default)
	if errors.Is(err, fs.ErrExist) {
		return set.Open(ctx, site.Default)
	}
	return t, err
}

// WithRegistry gives fn the list of sites, for commands that open none of them.
func (in *Installation) WithRegistry(fn func(registry.Registry) error) error {
	if err := in.Check(); err != nil {
		return err
	}
	c := sites.RegistryConfig{Layout: in.Layout(), Database: in.Database, Logger: in.Notices()}
	if in.Database != "" {
		if err := c.Layout.Make(); err != nil {
			return err
		}
		var err error
		if c.Master, err = in.master(); err != nil {
			return err
		}
	}
	from := sites.NewRegistry(c)
	return errors.Join(fn(from), from.Close())
}

// SiteFolder is the folder of a site on this machine.
func (in *Installation) SiteFolder(ctx context.Context, name string) (string, error) {
	r, err := in.record(ctx, name)
	if err != nil {
		return "", err
	}
	return in.Layout().Site(r.Folder), nil
}

// Records are the sites there are.
func (in *Installation) Records(ctx context.Context) (list []*registry.Record, err error) {
	err = in.WithRegistry(func(r registry.Registry) (err error) {
		list, err = r.Look(ctx)
		return err
	})
	return list, err
}

// Exists is an error where the site that is meant is not there, which a command asks
// that must make none: looking into an empty folder should leave it empty.
func (in *Installation) Exists(ctx context.Context) error {
	_, err := in.record(ctx, in.Site)
	if err != nil && in.Site == site.Default && fault.KindOf(err) == fault.NotFound {
		return fault.Missing("There is no site in %s\nhint: armature serve makes one; is --data right?", in.Data)
	}
	return err
}

// Silent is the same installation that prints nothing.
func (in *Installation) Silent() *Installation {
	silent := *in
	silent.Terminal = &terminal.Terminal{Stdout: io.Discard, Stderr: io.Discard}
	return &silent
}

// record is one of them.
func (in *Installation) record(ctx context.Context, name string) (*registry.Record, error) {
	list, err := in.Records(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(r *registry.Record) bool { return r.Name == name })
	if i < 0 {
		return nil, fault.Missing("Site %s does not exist", name)
	}
	return list[i], nil
}

// ConfigOf is a site's configuration, which must be one that can be used.
func (in *Installation) ConfigOf(ctx context.Context, name string) (*site.Config, error) {
	r, err := in.record(ctx, name)
	if err != nil {
		return nil, err
	}
	return r.Config, r.Broken
}

// Configure sets a key of a site's configuration to a JSON value.
func (in *Installation) Configure(ctx context.Context, name, key, value string) (next *site.Config, err error) {
	err = in.WithRegistry(func(r registry.Registry) (err error) {
		next, err = r.Configure(ctx, name, func(c *site.Config) (*site.Config, error) {
			return c.With(key, json.RawMessage(value))
		})
		return err
	})
	return next, err
}
