package site

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"armature/cmd/armature/terminal"
	"armature/core/doctor"
	"armature/core/sites"
	"armature/core/tenant"
)

// unwell ends the command where something is left that is not as it should be, and
// nothing else went wrong.
const unwell = 2

func (g *group) doctorCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "doctor NAME",
		Short: "Examine a site",
		Long: "Examine a site, beside servers that serve it: whether the database is whole; formats; names that the\n" +
			"platform uses; tables and indexes against DocTypes; rows without their document; links that lead nowhere;\n" +
			"secrets that cannot be read; files without bytes and bytes without a file; backups that are late or fail;\n" +
			"whether anything is sent from it. With --repair what is safe is\n" +
			"mended: missing columns and indexes, bytes that are in the trash. Nothing that somebody has written is\n" +
			"deleted or changed. It ends with 0 where all is well, with 2 where something\n" +
			"is left that is not, and with 1 where something could not be examined or the site not be opened.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.doctor(cmd.Context(), args[0], repair) },
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "mend what is safe")
	return cmd
}

// diagnosis is what is printed as JSON.
type diagnosis struct {
	Name     string           `json:"name"`
	Well     bool             `json:"well"`
	Findings []doctor.Finding `json:"findings"`
	Failed   []string         `json:"failed"` // what could not be examined, and why
}

func (g *group) doctor(ctx context.Context, name string, repair bool) error {
	set, err := g.NewSet(sites.Config{Config: tenant.Config{Logger: g.Notices()}})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	t, err := set.Open(ctx, name)
	if err != nil {
		return err
	}
	p, err := t.Patient(ctx)
	if err != nil {
		return err
	}
	d := diagnosis{Name: name, Well: true, Findings: []doctor.Finding{}, Failed: []string{}}
	for _, check := range doctor.Checks() {
		found, err := check.Examine(ctx, p, repair)
		for _, f := range found {
			d.Well = d.Well && (f.Repaired || f.Note)
		}
		d.Findings = append(d.Findings, found...)
		if err != nil {
			d.Well = false
			d.Failed = append(d.Failed, err.Error())
		}
		g.sayCheck(check, found, err)
	}
	if g.JSON {
		if err := g.PrintJSON(d); err != nil {
			return err
		}
	}
	switch {
	case len(d.Failed) > 0:
		return terminal.ExitError{Code: 1}
	case !d.Well:
		return terminal.ExitError{Code: unwell}
	}
	return nil
}

// sayCheck is what a person reads of a check.
func (g *group) sayCheck(check doctor.Check, found []doctor.Finding, err error) {
	if g.JSON {
		return
	}
	if len(found) == 0 && err == nil {
		fmt.Fprintf(g.Stdout, "%-10s well\n", check.Name)
	}
	for _, f := range found {
		note := ""
		switch {
		case f.Repaired:
			note = " [repaired]"
		case f.Note:
			note = " [a note]"
		case f.Safe:
			note = " [--repair mends it]"
		}
		fmt.Fprintf(g.Stdout, "%-10s %s: %s%s\n", check.Name, f.Subject, f.Message, note)
	}
	if err != nil {
		fmt.Fprintf(g.Stdout, "%-10s cannot be examined: %s\n", check.Name, terminal.Explain(err))
	}
}
