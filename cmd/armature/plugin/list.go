package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"armature/plugins/installed"
)

func (g *group) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins of a site",
		Long:  "List the plugins of a site: those installed on it, and those in folders that a server has\nseen there, those that could not be loaded with the reason, which \"plugin logs\" shows in full; then what each\nmay do, what of that waits for an approval, and what was added (+) and left out (-) since the version before.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := []installed.Entry{}
			if err := g.managePlugins(cmd.Context(), "list", nil, &list); err != nil {
				return err
			}
			var rows [][]any
			for _, e := range list {
				rows = append(rows, []any{e.Name, e.Version, e.Status, strings.Join(e.Waiting, ", "), e.Source, firstLine(e.Error)})
			}
			if err := g.Table(list, "PLUGIN\tVERSION\tSTATUS\tWAITS FOR\tSOURCE\tERROR", rows); err != nil || g.JSON {
				return err
			}
			for _, e := range list {
				g.sayRights(&e)
			}
			return nil
		},
	}
}

// sayRights says in words what a plugin may do, what of it waits, and what is other
// than in the version before.
func (g *group) sayRights(e *installed.Entry) {
	if len(e.Does) == 0 && e.PendingHash == "" && e.Publisher == "" {
		return
	}
	w := g.Stdout
	versions := []string{e.Version}
	if e.PendingHash != "" {
		versions = append(versions, e.PendingVersion+", which waits")
	}
	fmt.Fprintf(w, "\n%s %s", e.Name, strings.TrimPrefix(strings.Join(versions, ", and "), ", and ")) // one that never served has no version yet
	fmt.Fprintf(w, "; signed by %s\n", signer(cmp.Or(e.PendingPublisher, e.Publisher)))
	if e.RunAs != "" {
		fmt.Fprintf(w, "  runs handlers as %s\n", e.RunAs)
	}
	for i, words := range e.Does {
		mark := ""
		if slices.Contains(e.Waiting, e.Asked[i]) {
			mark = " (waits: " + e.Asked[i] + ")"
		}
		fmt.Fprintf(w, "  %s%s\n", words, mark)
	}
	if e.Changes == nil {
		return
	}
	for _, words := range e.Changes.More {
		fmt.Fprintf(w, "  + %s\n", words)
	}
	for _, words := range e.Changes.Less {
		fmt.Fprintf(w, "  - %s\n", words)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
