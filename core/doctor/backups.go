package doctor

import (
	"context"
	"fmt"
	"time"
)

// outgoing says that nothing is sent from the site.
func outgoing(_ context.Context, p *Patient, find func(Finding)) error {
	if p.State.Paused != "" {
		find(Finding{Subject: "site", Note: true, Message: "nothing is sent from it until site resume: " + p.State.Paused})
	}
	return nil
}

// letters says what is switched on and cannot work, since it needs letters.
func letters(_ context.Context, p *Patient, find func(Finding)) error {
	if p.Letters == nil {
		return nil
	}
	for _, setting := range p.Letters() {
		find(Finding{Subject: setting, Message: "it is on, and the site has no mail server to send the letters it needs: armature site mail sets one"})
	}
	return nil
}

// lateAfter is after how many intervals without an archive a schedule is not kept.
const lateAfter = 2

// backups says that archives are to be made by schedule, and are not.
func backups(_ context.Context, p *Patient, find func(Finding)) error {
	run := p.Backups
	if run.Every == 0 {
		return nil // nobody has asked for any
	}
	last := "there is none yet"
	if !run.Done.IsZero() {
		last = "the last one is of " + run.Done.UTC().Format(time.DateTime) + " UTC"
	}
	switch {
	case run.Problem != "":
		find(Finding{Subject: "schedule", Message: fmt.Sprintf("the last backup failed, and %s: %s", last, run.Problem)})
	case p.Now.Sub(run.Done) > lateAfter*run.Every:
		find(Finding{Subject: "schedule", Message: fmt.Sprintf("a backup was to be made every %s, and %s: does a server run with --backup-to?", run.Every, last)})
	}
	return nil
}
