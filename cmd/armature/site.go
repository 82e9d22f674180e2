package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"armature/core/host"
)

func (a *app) siteCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "site", Short: "Sites: tenants with a database, users and plugins of their own"}
	cmd.AddCommand(a.siteNewCommand(), a.siteListCommand(), a.siteDropCommand(), a.siteConfigCommand(), a.siteBackupCommand(), a.siteRestoreCommand(), a.siteMailCommand())
	return cmd
}

func (a *app) siteNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Make a site",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := a.newSet(host.Config{})
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
		RunE: func(*cobra.Command, []string) error {
			names, err := a.layout().List()
			if err != nil {
				return err
			}
			type row struct {
				Name  string   `json:"name"`
				Hosts []string `json:"hosts"`
			}
			list := make([]row, 0, len(names))
			var rows [][]any
			for _, name := range names {
				config, err := a.layout().ReadConfig(name)
				if err != nil {
					return err
				}
				hosts := config.Hosts()
				if hosts == nil {
					hosts = []string{}
				}
				list = append(list, row{name, hosts})
				rows = append(rows, []any{name, hostList(hosts)})
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
		Long:  "Show or change a site's configuration. A running server takes a change over within a\nsecond. The value null removes a key.",
		Args:  cobra.RangeArgs(1, 4),
		RunE: func(_ *cobra.Command, args []string) error {
			if !a.layout().Exists(args[0]) {
				return fmt.Errorf("site %s: %w", args[0], fs.ErrNotExist)
			}
			switch {
			case len(args) == 1:
				return a.showConfig(args[0])
			case len(args) == 3 && args[1] == "get":
				return a.getConfig(args[0], args[2])
			case len(args) == 4 && args[1] == "set":
				return a.setConfig(args[0], args[2], args[3])
			}
			return errors.New("usage: armature site config NAME [get KEY | set KEY JSON]")
		},
	}
}

func (a *app) showConfig(name string) error {
	config, err := a.layout().ReadConfig(name)
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

func (a *app) getConfig(name, key string) error {
	config, err := a.layout().ReadConfig(name)
	if err != nil {
		return err
	}
	value, ok := config.Get(key)
	if !ok {
		value = json.RawMessage("null")
	}
	return a.printJSON(value)
}

func (a *app) setConfig(name, key, value string) error {
	config, err := a.layout().ReadConfig(name)
	if err != nil {
		return err
	}
	next, err := config.With(key, json.RawMessage(value))
	if err != nil {
		return err
	}
	if err := a.layout().WriteConfig(name, next); err != nil {
		return err
	}
	return a.say(next, "%s: %s is set", name, key)
}

func (a *app) siteDropCommand() *cobra.Command {
	var yes, erase bool
	cmd := &cobra.Command{
		Use:   "drop NAME",
		Short: "Take a site away",
		Long:  "Take a site away: its folder moves to <data>/dropped and a running server closes it within\na second. Move the folder back to undo it; a database in PostgreSQL stays where it is. With\n--erase the folder and the database are deleted for good.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return fmt.Errorf("this takes site %s off every server on %s: repeat with --yes", args[0], a.data)
			}
			if erase {
				if err := host.Erase(cmd.Context(), a.layout(), a.database, args[0]); err != nil {
					return err
				}
				return a.say(map[string]any{"name": args[0]}, "erased site %s", args[0])
			}
			to, err := a.layout().Drop(args[0])
			if err != nil {
				return err
			}
			return a.say(map[string]any{"name": args[0], "moved_to": to}, "moved site %s to %s", args[0], to)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&erase, "erase", false, "delete everything for good")
	return cmd
}
