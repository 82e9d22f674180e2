package main

import (
	"strings"

	"github.com/spf13/cobra"

	"armature/plugins/ledger"
)

func (a *app) pluginListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins of a site",
		Long:  "List the plugins of a site: those installed on it, and those in folders that a server has\nseen there, those that could not be loaded with the reason. \"plugin logs\" shows it in full.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := []ledger.Entry{}
			if err := a.managePlugins(cmd.Context(), "list", nil, &list); err != nil {
				return err
			}
			var rows [][]any
			for _, e := range list {
				rows = append(rows, []any{e.Name, e.Version, e.Status, strings.Join(e.Waiting, ", "), e.Source, firstLine(e.Error)})
			}
			return a.table(list, "PLUGIN\tVERSION\tSTATUS\tWAITS FOR\tSOURCE\tERROR", rows)
		},
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
