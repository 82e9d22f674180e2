package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"armature/core/site"
	"armature/core/sites"
)

func (a *app) siteCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "site", Short: "Sites: tenants with a database, users and plugins of their own"}
	cmd.AddCommand(a.siteNewCommand(), a.siteListCommand(), a.siteDropCommand(), a.siteConfigCommand(), a.siteSettingsCommand(), a.siteBackupCommand(), a.siteRestoreCommand(), a.sitePauseCommand(), a.siteResumeCommand(), a.siteMigrateCommand(), a.siteDoctorCommand(), a.siteMailCommand())
	return cmd
}

func (a *app) siteNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Make a site",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := a.newSet(sites.Config{})
			if err != nil {
				return err
			}
			defer set.CloseAll()
			if _, err := set.Create(cmd.Context(), args[0]); err != nil {
				return err
			}
			return a.say(map[string]any{"name": args[0]}, "made site %s", args[0])
		},
	}
}

func (a *app) siteListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sites",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			records, err := a.records(cmd.Context())
			if err != nil {
				return err
			}
			type row struct {
				Name   string   `json:"name"`
				Hosts  []string `json:"hosts"`
				Schema string   `json:"schema,omitempty"`
			}
			list := make([]row, 0, len(records))
			var rows [][]any
			for _, r := range records {
				hosts := r.Config.Hosts()
				if hosts == nil {
					hosts = []string{}
				}
				list = append(list, row{r.Name, hosts, r.Schema})
				rows = append(rows, []any{r.Name, hostList(hosts)})
			}
			return a.table(list, "SITE\tHOSTS", rows)
		},
	}
}

func hostList(hosts []string) any {
	if len(hosts) == 0 {
		return "every host"
	}
	return hosts
}

func (a *app) siteConfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config NAME [get KEY | set KEY JSON]",
		Short: "Show or change a site's configuration",
		Long: "Show or change a site's configuration. Running servers take a change over within a second.\n" +
			"The value null removes a key; - is read from standard input, for what has a password in it.",
		Args: cobra.RangeArgs(1, 4),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch {
			case len(args) == 1:
				return a.showConfig(ctx, args[0])
			case len(args) == 3 && args[1] == "get":
				return a.getConfig(ctx, args[0], args[2])
			case len(args) == 4 && args[1] == "set":
				value := args[3]
				if value == "-" {
					text, err := io.ReadAll(cmd.InOrStdin())
					if err != nil {
						return err
					}
					value = string(text)
				}
				return a.setConfig(ctx, args[0], args[2], value)
			}
			return errors.New("usage: armature site config NAME [get KEY | set KEY JSON]")
		},
	}
}

// records are the sites there are.
func (a *app) records(ctx context.Context) (list []*sites.Record, err error) {
	err = a.withRegistry(func(r sites.Registry) (err error) {
		list, err = r.Look(ctx)
		return err
	})
	return list, err
}

// record is one of them.
func (a *app) record(ctx context.Context, name string) (*sites.Record, error) {
	list, err := a.records(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(r *sites.Record) bool { return r.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("site %s does not exist", name)
	}
	return list[i], nil
}

// configOf is a site's configuration, which must be one that can be used.
func (a *app) configOf(ctx context.Context, name string) (*site.Config, error) {
	r, err := a.record(ctx, name)
	if err != nil {
		return nil, err
	}
	return r.Config, r.Broken
}

func (a *app) showConfig(ctx context.Context, name string) error {
	config, err := a.configOf(ctx, name)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(config)
	}
	text, err := config.MarshalIndent()
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}

func (a *app) getConfig(ctx context.Context, name, key string) error {
	config, err := a.configOf(ctx, name)
	if err != nil {
		return err
	}
	value, ok := config.Get(key)
	if !ok {
		value = json.RawMessage("null")
	}
	return a.printJSON(value)
}

func (a *app) setConfig(ctx context.Context, name, key, value string) error {
	var next *site.Config
	err := a.withRegistry(func(r sites.Registry) (err error) {
		next, err = r.Configure(ctx, name, func(c *site.Config) (*site.Config, error) {
			return c.With(key, json.RawMessage(value))
		})
		return err
	})
	if err != nil {
		return err
	}
	return a.say(next, "%s: %s is set", name, key)
}

func (a *app) siteDropCommand() *cobra.Command {
	var yes, erase, undo bool
	cmd := &cobra.Command{
		Use:   "drop NAME",
		Short: "Take a site away",
		Long: "Take a site away: running servers close it within a second, on every machine. What it has\n" +
			"stays: its folder moves to <data>/dropped, and back to undo it; in PostgreSQL its schema and\n" +
			"folders stay where they are, --undo brings it back, and a new site of the name does not meet\n" +
			"them. With --erase everything is deleted for good; in PostgreSQL, where there is no such site\n" +
			"any more, what an interrupted --erase of the name left, and else those that were dropped;\n" +
			"it says when there are more of them, which the same command again erases.\n" +
			"Files in object storage stay: whose they are besides only their owner knows.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo && (yes || erase) {
				return errors.New("--undo takes no --yes and no --erase")
			}
			if !yes && !undo {
				return fmt.Errorf("this takes site %s off every server of %s: repeat with --yes", args[0], a.where())
			}
			return a.withRegistry(func(r sites.Registry) error { return a.drop(cmd.Context(), r, args[0], erase, undo) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&erase, "erase", false, "delete everything for good")
	cmd.Flags().BoolVar(&undo, "undo", false, "bring back the site of that name that was dropped last")
	return cmd
}

// where is what the sites are on.
func (a *app) where() string {
	if a.database != "" {
		return "the database"
	}
	return a.data
}

func (a *app) drop(ctx context.Context, registry sites.Registry, name string, erase, undo bool) error {
	switch {
	case undo:
		if err := registry.Undrop(ctx, name); err != nil {
			return err
		}
		return a.say(map[string]any{"name": name}, "site %s is back", name)
	case erase:
		return a.erase(ctx, registry, name)
	}
	kept, err := registry.Drop(ctx, name)
	if err != nil {
		return err
	}
	if kept.Schema != "" {
		return a.say(map[string]any{"name": name, "schema": kept.Schema}, "dropped site %s; its data stays in the PostgreSQL schema %s", name, kept.Schema)
	}
	return a.say(map[string]any{"name": name, "moved_to": kept.Folder}, "moved site %s to %s", name, kept.Folder)
}

// erase says what of the site it does not delete.
func (a *app) erase(ctx context.Context, registry sites.Registry, name string) error {
	list, err := registry.Look(ctx)
	if err != nil {
		return err
	}
	var bucket, prefix string
	for _, r := range list {
		if r.Name == name {
			bucket, prefix = r.Bucket()
		}
	}
	kept, err := registry.Erase(ctx, name)
	if err != nil {
		return err
	}
	said, text := map[string]any{"name": name}, "erased site "+name
	if bucket != "" {
		said["bucket"], said["prefix"] = bucket, prefix
		text += fmt.Sprintf("; its files stay in the bucket %s, under %s", bucket, prefix)
	}
	if kept > 0 {
		said["still_dropped"] = kept
		text += fmt.Sprintf("; %d more that had the name are kept: the same command erases them, too, and --undo brings back the last", kept)
	}
	return a.say(said, "%s", text)
}
