package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// keepLogsEvery is how often what plugins have logged is written to the site's
// folder, where other commands find it.
const keepLogsEvery = time.Second

func (g *guests) keepLogs(ctx context.Context) {
	tick := time.NewTicker(keepLogsEvery)
	defer tick.Stop()
	for {
		g.writeAllLogs()
		select {
		case <-ctx.Done():
			g.writeAllLogs()
			return
		case <-tick.C:
		}
	}
}

func (g *guests) writeAllLogs() {
	for _, site := range g.logs.Sites() {
		g.writeLogs(site)
	}
}

func (g *guests) writeLogs(site string) {
	if g.observer {
		return
	}
	g.logs.Changed(site, func(plugin string, lines []json.RawMessage) {
		var text bytes.Buffer
		for _, line := range lines {
			text.Write(line)
			text.WriteByte('\n')
		}
		folder := g.folder(site)
		file := pluginLog(folder, plugin)
		// No more than the one folder: a site that was dropped must not come back.
		err := os.Mkdir(filepath.Dir(file), 0o700)
		if err == nil || errors.Is(err, fs.ErrExist) {
			err = replaceFile(file, text.Bytes())
		}
		if _, gone := os.Stat(folder); err != nil && gone == nil {
			g.log.Warn("write down what a plugin logs", "site", site, "plugin", plugin, "error", err)
		}
	})
}

func pluginLog(site, plugin string) string { return filepath.Join(site, "logs", plugin+".jsonl") }

func (a *app) pluginLogsCommand() *cobra.Command {
	var lines int
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Show what a plugin has logged lately",
		Long:  "Show what a plugin has logged lately on a site, with its failed calls: one JSON object a line,\nas the server wrote them down within the last second. With --url they are those of the\nprocess that answers.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.url != "" {
				return a.hostedLogs(cmd.Context(), args[0], lines)
			}
			folder, err := a.siteFolder(cmd.Context(), a.site)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(pluginLog(folder, args[0]))
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s has logged nothing on site %s", args[0], a.site)
			}
			if err != nil {
				return err
			}
			all := bytes.SplitAfter(text, []byte("\n"))
			all = all[:len(all)-1]
			for _, line := range all[max(len(all)-lines, 0):] {
				if _, err := a.stdout.Write(line); err != nil {
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
func (a *app) hostedLogs(ctx context.Context, plugin string, lines int) error {
	var all []json.RawMessage
	if err := a.managePlugins(ctx, "logs", map[string]any{"plugin": plugin, "lines": lines}, &all); err != nil {
		return err
	}
	for _, line := range all {
		if _, err := fmt.Fprintf(a.stdout, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
