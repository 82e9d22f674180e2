package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"armature/core/doctor"
	"armature/core/sites"
)

// unwell ends the command where something is left that is not as it should be, and
// nothing else went wrong.
const unwell = 2

func (a *app) siteDoctorCommand() *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return a.doctor(cmd.Context(), args[0], repair) },
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

func (a *app) doctor(ctx context.Context, name string, repair bool) error {
	set, err := a.newSet(sites.Config{Logger: a.notices()})
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
		a.sayCheck(check, found, err)
	}
	if a.json {
		if err := a.printJSON(d); err != nil {
			return err
		}
	}
	switch {
	case len(d.Failed) > 0:
		return exitError{1}
	case !d.Well:
		return exitError{unwell}
	}
	return nil
}

// sayCheck is what a person reads of a check.
func (a *app) sayCheck(check doctor.Check, found []doctor.Finding, err error) {
	if a.json {
		return
	}
	if len(found) == 0 && err == nil {
		fmt.Fprintf(a.stdout, "%-10s well\n", check.Name)
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
		fmt.Fprintf(a.stdout, "%-10s %s: %s%s\n", check.Name, f.Subject, f.Message, note)
	}
	if err != nil {
		fmt.Fprintf(a.stdout, "%-10s cannot be examined: %s\n", check.Name, explain(err))
	}
}
