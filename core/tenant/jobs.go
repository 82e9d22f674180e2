package tenant

import (
	"context"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/jobs"
	"armature/core/letter"
	"armature/core/method"
	"armature/core/ratelimit"
	"armature/core/schedule"
	"armature/core/webhook"
)

// openJobs makes the queue of what the site has to do after requests.
func (t *Tenant) openJobs() {
	t.Jobs = jobs.New(jobs.Config{
		Site: t.home.Name, Store: t.Store, Pump: t.c.Jobs, Now: t.Site.Now, Methods: t.Methods, Caller: t.jobCaller,
		Clock: t.Schedules, Tasks: map[string]jobs.Task{webhook.Path: t.Webhooks.Send, letter.Path: t.Letters.Deliver}, Outgoing: t.Outgoing, Most: func() int64 {
			if most := t.Site.Config().Quotas().Jobs; most > 0 {
				return most
			}
			return jobs.DefaultMost
		}, Logger: t.log,
	})
}

// openSchedules makes what the site does by the clock. Its documents are saved through it,
// so it is made before them.
func (t *Tenant) openSchedules() {
	plugins := func() ([]method.Scheduled, bool) {
		if s, ok := t.invoker.(method.Scheduler); ok {
			return s.Schedules(), true
		}
		return nil, false
	}
	t.Schedules = schedule.New(schedule.Config{
		Store: t.Store, Queue: func() schedule.Queue { return t.Jobs }, Now: t.Site.Now, Plugins: plugins, PluginUser: auth.PluginUser,
		Frame: func(plugin string, user *identity.Caller) *identity.Caller {
			if f, ok := t.invoker.(method.Framer); ok {
				if frame, ok := f.Frame(plugin); ok {
					return user.In(frame)
				}
			}
			return user
		},
		Admits: func(path, verb string, caller *identity.Caller) error { return t.Methods().Admits(path, verb, caller) },
		Logger: t.log,
	})
}

// openWebhooks makes what tells other servers of documents.
func (t *Tenant) openWebhooks() {
	t.Webhooks = webhook.New(webhook.Config{
		Store: t.Store, Documents: t.documents, Later: func() method.Later { return t.Jobs }, Egress: t.c.Egress, Secret: t.Site.Secret,
		Now: t.Site.Now, Caller: t.jobCaller, PrivateHosts: func() []string { return t.Site.Config().PrivateHosts() }, Outgoing: t.Outgoing,
		Tell: func(ctx context.Context, tx document.Tx, user, subject, text string) error {
			owner, err := t.jobCaller(ctx, user)
			if err != nil {
				return err
			}
			return t.Letters.Tell(ctx, tx, owner, subject, text)
		},
		Sent: func(result string) { t.delivered("webhook", result) }, Logger: t.log,
	})
}

// openLetters makes what sends letters.
func (t *Tenant) openLetters() {
	t.Letters = letter.New(letter.Config{
		Store: t.Store, Documents: t.documents, Later: func() method.Later { return t.Jobs }, Server: t.mailServer, Roots: t.c.MailRoots,
		Outgoing: t.Outgoing, Read: t.Files.Whole,
		Open: func(ctx context.Context, tx document.Tx, caller *identity.Caller, url string) (*doctype.Document, error) {
			return t.Files.Open(ctx, tx, caller, url, "")
		},
		Admit: func(ctx context.Context, plugin string) error {
			limit := ratelimit.CallLimit{Limit: t.Site.Config().MailPerDay(), Period: 24 * time.Hour}
			return t.limiter.Count(ctx, limit, "framework.email.sendmail", "site")
		},
		Sent: func(result string) { t.delivered("mail", result) }, Logger: t.log,
	})
}

// delivered counts what has left the site, or could not.
func (t *Tenant) delivered(kind, result string) {
	if t.c.Delivered != nil {
		t.c.Delivered(kind, result)
	}
}

// jobCaller is a user as of now, who may be that of a plugin.
func (t *Tenant) jobCaller(ctx context.Context, user string) (caller *identity.Caller, err error) {
	plugin, is := strings.CutSuffix(user, auth.PluginUser(""))
	if !is {
		return t.Auth.Caller(ctx, user)
	}
	err = t.Store.Read(ctx, func(tx document.Tx) error {
		caller, err = t.Auth.PluginCaller(ctx, tx, plugin)
		return err
	})
	return caller, err
}

// remindJobs has the jobs run that were left here: by a backup that was restored, or a
// process that knew of no marks.
func (t *Tenant) remindJobs(ctx context.Context) error {
	if t.c.Jobs == nil {
		return nil
	}
	due, next, err := t.Jobs.Due(ctx, 1)
	if err != nil || len(due) == 0 && next.IsZero() {
		return err
	}
	if err := t.c.Jobs.Mark(ctx, t.home.Name); err != nil {
		return err
	}
	t.c.Jobs.Wake(t.home.Name)
	return nil
}
