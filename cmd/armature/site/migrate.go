package site

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/terminal"
	"armature/core/sites"
	"armature/core/tenant"
)

func (g *group) migrateCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "migrate [NAME | --all]",
		Short: "Bring sites to the format of this version now",
		Long: "Bring sites to the format of this version now: one, or --all of them, one after the other. Servers do\n" +
			"so by themselves when a site is opened; this is for doing it before somebody waits for it. Servers may\n" +
			"run meanwhile, and what is interrupted goes on where it stopped. One that fails keeps none of the\n" +
			"others from theirs; the command ends with 1 then.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return terminal.Misuse("name a site, or --all")
			}
			return g.migrate(cmd.Context(), args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every site there is")
	return cmd
}

// migrated is what came of one site.
type migrated struct {
	Name    string  `json:"name"`
	From    int64   `json:"from_format"` // 0: from before formats had numbers
	To      int64   `json:"to_format"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

func (g *group) migrate(ctx context.Context, names []string) error {
	shown := g.Progress()
	said := &terminal.Terminal{Stderr: shown.Beside(g.Stderr)}
	set, err := g.NewSet(sites.Config{Config: tenant.Config{Logger: said.Notices()}})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	if len(names) == 0 {
		records, err := set.Sites(ctx)
		if err != nil {
			return err
		}
		for _, r := range records {
			names = append(names, r.Name)
		}
	}
	list, failed := make([]migrated, 0, len(names)), 0
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		stop := shown.Work(fmt.Sprintf("[%d/%d] %s", i+1, len(names), name))
		m := migrateSite(ctx, set, name)
		stop()
		if m.Error != "" {
			failed++
		}
		list = append(list, m)
		if !g.JSON {
			fmt.Fprintf(g.Stdout, "[%d/%d] %s\n", i+1, len(names), m)
		}
	}
	if g.JSON {
		if err := g.PrintJSON(list); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d sites could not be brought to the format of this version", failed, len(names))
	}
	return nil
}

// migrateSite opens a site, which is all that it takes, and closes it again.
func migrateSite(ctx context.Context, set *sites.Set, name string) migrated {
	m, began := migrated{Name: name}, time.Now()
	t, err := set.Open(ctx, name)
	m.Seconds = time.Since(began).Seconds()
	if err != nil {
		m.Error = terminal.Explain(err)
		return m
	}
	m.From, m.To = t.Formats()
	set.Close(name)
	return m
}

// String is the line of a person.
func (m migrated) String() string {
	switch {
	case m.Error != "":
		return m.Name + ": " + m.Error
	case m.From == m.To:
		return fmt.Sprintf("%s: has format %d", m.Name, m.To)
	case m.From == 0:
		return fmt.Sprintf("%s: brought to format %d from one without a number, in %.1f s", m.Name, m.To, m.Seconds)
	}
	return fmt.Sprintf("%s: brought from format %d to %d, in %.1f s", m.Name, m.From, m.To, m.Seconds)
}
