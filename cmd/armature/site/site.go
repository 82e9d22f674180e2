// Package site is the commands about sites: made, configured, dropped, backed up,
// restored, examined.
package site

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/terminal"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/registry"
)

// group is the commands about sites.
type group struct {
	*installation.Installation
}

// Command makes the commands about sites.
func Command(in *installation.Installation) *cobra.Command {
	a := &group{in}
	cmd := &cobra.Command{Use: "site", Short: "Sites: tenants with a database, users and plugins of their own"}
	cmd.AddCommand(a.newCommand(), a.listCommand(), a.dropCommand(), a.configCommand(), a.settingsCommand(), a.backupCommand(), a.restoreCommand(), a.pauseCommand(), a.resumeCommand(), a.migrateCommand(), a.doctorCommand(), a.mailCommand(), a.quotaCommand(), a.publishCommand())
	return cmd
}

func (g *group) newCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Make a site",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := g.NewSet(sites.Config{})
			if err != nil {
				return err
			}
			defer set.CloseAll()
			if _, err := set.Create(cmd.Context(), args[0]); err != nil {
				return err
			}
			return g.Say(map[string]any{"name": args[0]}, "made site %s", args[0])
		},
	}
}

func (g *group) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sites",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			records, err := g.Records(cmd.Context())
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
			return g.Table(list, "SITE\tHOSTS", rows)
		},
	}
}

func hostList(hosts []string) any {
	if len(hosts) == 0 {
		return "every host"
	}
	return hosts
}

func (g *group) configCommand() *cobra.Command {
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
				return g.showConfig(ctx, args[0])
			case len(args) == 3 && args[1] == "get":
				return g.getConfig(ctx, args[0], args[2])
			case len(args) == 4 && args[1] == "set":
				value := args[3]
				if value == "-" {
					text, err := io.ReadAll(cmd.InOrStdin())
					if err != nil {
						return err
					}
					value = string(text)
				}
				return g.setConfig(ctx, args[0], args[2], value)
			}
			return terminal.Misuse("usage: armature site config NAME [get KEY | set KEY JSON]")
		},
	}
}

func (g *group) showConfig(ctx context.Context, name string) error {
	config, err := g.ConfigOf(ctx, name)
	if err != nil {
		return err
	}
	if g.JSON {
		return g.PrintJSON(config)
	}
	text, err := config.MarshalIndent()
	if err != nil {
		return err
	}
	_, err = g.Stdout.Write(text)
	return err
}

func (g *group) getConfig(ctx context.Context, name, key string) error {
	config, err := g.ConfigOf(ctx, name)
	if err != nil {
		return err
	}
	value, ok := config.Get(key)
	if !ok {
		value = json.RawMessage("null")
	}
	return g.PrintJSON(value)
}

func (g *group) setConfig(ctx context.Context, name, key, value string) error {
	next, err := g.Configure(ctx, name, key, value)
	if err != nil {
		return err
	}
	for _, needy := range site.NeedMail(next) {
		if needy == key {
			fmt.Fprintf(g.Stderr, "warning: %s needs letters, and the site has no mail server: armature site mail sets one\n", key)
		}
	}
	return g.Say(next, "%s: %s is set", name, key)
}

func (g *group) dropCommand() *cobra.Command {
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
				return terminal.Misuse("--undo takes no --yes and no --erase")
			}
			if !yes && !undo {
				return terminal.Misuse("this takes site %s off every server of %s: repeat with --yes", args[0], g.Where())
			}
			return g.WithRegistry(func(r registry.Registry) error { return g.drop(cmd.Context(), r, args[0], erase, undo) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&erase, "erase", false, "delete everything for good")
	cmd.Flags().BoolVar(&undo, "undo", false, "bring back the site of that name that was dropped last")
	return cmd
}

func (g *group) drop(ctx context.Context, from registry.Registry, name string, erase, undo bool) error {
	switch {
	case undo:
		if err := from.Undrop(ctx, name); err != nil {
			return err
		}
		return g.Say(map[string]any{"name": name}, "site %s is back", name)
	case erase:
		return g.erase(ctx, from, name)
	}
	kept, err := from.Drop(ctx, name)
	if err != nil {
		return err
	}
	if kept.Schema != "" {
		return g.Say(map[string]any{"name": name, "schema": kept.Schema}, "dropped site %s; its data stays in the PostgreSQL schema %s", name, kept.Schema)
	}
	return g.Say(map[string]any{"name": name, "moved_to": kept.Folder}, "moved site %s to %s", name, kept.Folder)
}

// erase says what of the site it does not delete.
func (g *group) erase(ctx context.Context, from registry.Registry, name string) error {
	list, err := from.Look(ctx)
	if err != nil {
		return err
	}
	var bucket, prefix string
	for _, r := range list {
		if r.Name == name {
			bucket, prefix = r.Bucket()
		}
	}
	kept, err := from.Erase(ctx, name)
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
	return g.Say(said, "%s", text)
}
