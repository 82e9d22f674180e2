package site

import (
	"github.com/spf13/cobra"

	"armature/core/site"
)

func (g *group) settingsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "settings",
		Short: "List what a site's configuration may say, and what it means",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			type row struct {
				Key     string `json:"key"`
				Value   string `json:"value"`
				Default string `json:"default"`
				Meaning string `json:"meaning"`
				Since   int    `json:"since"`
			}
			list := []row{}
			var rows [][]any
			for _, s := range site.Settings() {
				list = append(list, row{s.Key, s.Kind.String(), s.Default, s.Meaning, s.Since})
				rows = append(rows, []any{s.Key, s.Kind, s.Default, s.Meaning})
			}
			return g.Table(list, "SETTING\tVALUE\tDEFAULT\tMEANING", rows)
		},
	}
}
