// Package schedule is the commands about what a site does by the clock.
package schedule

import (
	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/core/schedule"
	"armature/core/tenant"
)

// Command makes the commands about schedules.
func Command(in *installation.Installation) *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "What a site does by the clock"}
	cmd.AddCommand(&cobra.Command{
		Use:   "list",
		Short: "List what the site does by the clock, what is due next first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return in.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				list, err := t.Schedules.List(cmd.Context())
				if err != nil {
					return err
				}
				views, rows := make([]schedule.View, len(list)), make([][]any, len(list))
				for i, r := range list {
					v := r.Show(t.Site.Now())
					views[i], rows[i] = v, []any{v.Next, v.Cron, v.TimeZone, v.Method, v.User, v.Missed, v.Last}
				}
				return in.Table(views, "NEXT\tCRON\tTIME ZONE\tMETHOD\tUSER\tMISSED\tLAST", rows)
			})
		},
	})
	return cmd
}
