package site

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"armature/core/site"
)

func (g *group) quotaCommand() *cobra.Command {
	given := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "quota NAME",
		Short: "Show or change how much a site may have",
		Long: "Show or change how much a site may have. What is more is refused with QuotaExceededError,\n" +
			"deleting never. A quota of 0 is taken away. Sizes may have units, 500MB or 2GiB. Running\n" +
			"servers take a change over within a second. How much is used the site sees by the method\n" +
			"framework.site.usage, and /metrics shows it of the sites that are open.",
		Example: "  armature site quota shop --documents 100000 --database-bytes 2GiB --file-bytes 10GiB",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes := map[string]string{}
			for name, value := range given {
				if cmd.Flags().Changed(flagOf(name)) {
					changes[name] = *value
				}
			}
			return g.quota(cmd.Context(), args[0], changes)
		},
	}
	cmd.Flags().SortFlags = false
	for _, name := range site.QuotaNames() {
		given[name] = cmd.Flags().String(flagOf(name), "", quotaMeanings[name])
	}
	return cmd
}

var quotaMeanings = map[string]string{
	"documents":      "documents of all DocTypes but the platform's own",
	"database_bytes": "size of the database",
	"file_bytes":     "size of the uploaded files",
	"plugin_bytes":   "size of the plugins that were installed, all their versions",
	"jobs":           "jobs that wait or run; a million where nothing is said",
	"kv_bytes":       "memory in each server for what plugins keep for a while",
	"requests":       "requests that each server works on at a time",
	"streams":        "streams of live changes that each server has open at a time",
}

func flagOf(name string) string { return strings.ReplaceAll(name, "_", "-") }

// quota changes quotas of a site, given by name, and shows what they are then.
func (g *group) quota(ctx context.Context, name string, changes map[string]string) error {
	config, err := g.ConfigOf(ctx, name)
	if err != nil {
		return err
	}
	quotas := config.Quotas()
	if len(changes) > 0 {
		for quota, text := range changes {
			n, err := humanize.ParseBytes(text) // of counts, too: 10k is 10,000
			if err != nil || n > 1<<53 {
				return fmt.Errorf("--%s: %q is no number, and no size such as 2GiB", flagOf(quota), text)
			}
			*quotas.Field(quota) = int64(n)
		}
		if _, err := g.Configure(ctx, name, site.QuotasKey, quotaText(quotas)); err != nil {
			return err
		}
	}
	shown := map[string]any{}
	var rows [][]any
	for _, quota := range site.QuotaNames() {
		n := *quotas.Field(quota)
		if n == 0 {
			shown[quota] = nil
			rows = append(rows, []any{quota, "unlimited", quotaMeanings[quota]})
			continue
		}
		shown[quota] = n
		rows = append(rows, []any{quota, n, quotaMeanings[quota]})
	}
	return g.Table(shown, "QUOTA\tMOST\tOF", rows)
}

// quotaText is the value of the setting; null where there are no quotas.
func quotaText(q site.Quotas) string {
	set := map[string]int64{}
	for _, name := range site.QuotaNames() {
		if n := *q.Field(name); n > 0 {
			set[name] = n
		}
	}
	if len(set) == 0 {
		return "null"
	}
	text, _ := json.Marshal(set) // numbers by name: it cannot fail
	return string(text)
}
