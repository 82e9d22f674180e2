// Package job is the commands about the jobs of a site.
package job

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/platform"
	"armature/core/document"
	"armature/core/jobs"
	"armature/core/jobs/pump"
	"armature/core/sites"
	"armature/core/tenant"
)

// group is the commands about jobs.
type group struct {
	*installation.Installation
}

// Command makes the commands about jobs.
func Command(in *installation.Installation) *cobra.Command {
	g := &group{in}
	cmd := &cobra.Command{Use: "job", Short: "Jobs of a site: what it does after the requests that ask for it"}
	cmd.AddCommand(g.listCommand(), g.showCommand(),
		g.changeCommand("retry JOB", "Run a job again that is dead or was cancelled, and one that waits at once", "runs again", (*jobs.Queue).Retry),
		g.changeCommand("cancel JOB", "Take a job back that waits or runs; what it has asked other servers for stays done", "cancelled", (*jobs.Queue).Cancel))
	return cmd
}

func (g *group) listCommand() *cobra.Command {
	var state string
	var most int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List jobs, the latest first",
		Example: "  armature job list --state dead",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := jobs.CheckState(jobs.State(state)); err != nil {
				return err
			}
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				list, err := t.Jobs.List(cmd.Context(), jobs.State(state), 0, most)
				if err != nil {
					return err
				}
				views, rows := make([]jobs.View, len(list)), make([][]any, len(list))
				for i, j := range list {
					v := j.Show(t.Site.Now())
					views[i], rows[i] = v, []any{v.Job, v.State, v.Method, v.User, v.Step, v.Attempts, v.Due, string(v.Progress), v.Error}
				}
				return g.Table(views, "JOB\tSTATE\tMETHOD\tUSER\tSTEPS\tFAILED\tDUE\tPROGRESS\tERROR", rows)
			})
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "waiting, done, dead or cancelled; without it all")
	cmd.Flags().IntVar(&most, "limit", 50, "how many")
	return cmd
}

func (g *group) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show JOB",
		Short: "Show a job, as JSON",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				j, err := t.Jobs.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return g.PrintJSON(j.Show(t.Site.Now()))
			})
		},
	}
}

func (g *group) changeCommand(use, short, said string, change func(*jobs.Queue, context.Context, document.Tx, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.marking(cmd.Context(), func(t *tenant.Tenant) error {
				err := t.Store.Write(cmd.Context(), document.OwnTx, func(tx document.Tx) error {
					return change(t.Jobs, cmd.Context(), tx, args[0])
				})
				if err != nil {
					return err
				}
				return g.Say(map[string]any{"job": args[0]}, "%s %s", args[0], said)
			})
		},
	}
}

// marking opens the site that is meant so that a server beside it learns of jobs.
func (g *group) marking(ctx context.Context, fn func(*tenant.Tenant) error) (err error) {
	p := pump.New(platform.QueueOf(g.Installation))
	defer func() { err = errors.Join(err, p.Close()) }()
	c := sites.Config{}
	c.Jobs = p
	set, err := g.NewSet(c)
	if err != nil {
		return err
	}
	defer set.CloseAll()
	t, err := g.OpenTenant(ctx, set)
	if err != nil {
		return err
	}
	return fn(t)
}
