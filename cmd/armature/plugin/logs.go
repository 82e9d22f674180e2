package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"armature/cmd/armature/platform"
)

func (g *group) logsCommand() *cobra.Command {
	var lines int
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Show what a plugin has logged lately",
		Long:  "Show what a plugin has logged lately on a site, with its failed calls: one JSON object a line,\nas the server wrote them down within the last second. With --url they are those of the\nprocess that answers.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.remote.URL != "" {
				return g.hostedLogs(cmd.Context(), args[0], lines)
			}
			folder, err := g.SiteFolder(cmd.Context(), g.Site)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(platform.LogFile(folder, args[0]))
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s has logged nothing on site %s", args[0], g.Site)
			}
			if err != nil {
				return err
			}
			all := bytes.SplitAfter(text, []byte("\n"))
			all = all[:len(all)-1]
			for _, line := range all[max(len(all)-lines, 0):] {
				if _, err := g.Stdout.Write(line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "how many lines")
	return cmd
}

// hostedLogs prints the lines of a plugin on a hosted site.
func (g *group) hostedLogs(ctx context.Context, plugin string, lines int) error {
	var all []json.RawMessage
	if err := g.managePlugins(ctx, "logs", map[string]any{"plugin": plugin, "lines": lines}, &all); err != nil {
		return err
	}
	for _, line := range all {
		if _, err := fmt.Fprintf(g.Stdout, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
