package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"armature/plugins/grant"
	"armature/plugins/installed"
)

// manageCommands are those that change the record of a plugin on a site.
func (g *group) manageCommands() []*cobra.Command {
	command := func(name, use, short, long string, args cobra.PositionalArgs) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Long: long, Args: args,
			RunE: func(cmd *cobra.Command, args []string) error {
				given := map[string]any{"plugin": args[0]}
				if len(args) > 1 {
					given["grants"] = strings.Join(args[1:], ",")
				}
				var e installed.Entry
				if err := g.managePlugins(cmd.Context(), name, given, &e); err != nil {
					return err
				}
				return g.sayRecord(&e)
			},
		}
	}
	uninstall := &cobra.Command{
		Use: "uninstall NAME", Short: "Remove an installed plugin from a site", Args: cobra.ExactArgs(1),
		Long: "Remove an installed plugin from a site, with all its versions. The DocTypes it brought and\ntheir documents stay.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.managePlugins(cmd.Context(), "uninstall", map[string]any{"plugin": args[0]}, nil); err != nil {
				return err
			}
			return g.Say(map[string]any{"plugin": args[0]}, "uninstalled %s", args[0])
		},
	}
	return []*cobra.Command{
		command("approve", "approve NAME [GRANT...]", "Give a plugin what it asks for",
			"Give a plugin what it asks for: the grants that are named, or all that wait, except elevated\naccess, which is given by name. http_fetch is all hosts that\nare asked for, http_fetch:HOST one of them.", cobra.MinimumNArgs(1)),
		command("revoke", "revoke NAME [GRANT...]", "Take approved grants back", "", cobra.MinimumNArgs(1)),
		command("rollback", "rollback NAME", "Have the version serve that did before", "", cobra.ExactArgs(1)),
		command("disable", "disable NAME", "Take a plugin off a site", "", cobra.ExactArgs(1)),
		command("enable", "enable NAME", "Put a disabled plugin back", "", cobra.ExactArgs(1)),
		uninstall,
	}
}

func (g *group) sayRecord(e *installed.Entry) error {
	waiting := ""
	if w := e.Waiting; len(w) > 0 && e.Status != installed.Disabled {
		waiting = "; waits for approval: " + strings.Join(grant.Described(w), ", ")
	}
	if err := g.Say(e, "%s %s: %s%s", e.Name, e.Version, e.Status, waiting); err != nil || g.JSON {
		return err
	}
	for _, words := range e.Needs {
		fmt.Fprintf(g.Stdout, "  waits: %s\n", words)
	}
	return nil
}
