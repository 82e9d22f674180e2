package tenant

import (
	"context"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/mail"
	"armature/core/web/resetmail"
)

// mailServer is the mail server of the site; nil where none is configured.
func (t *Tenant) mailServer() (*mail.Server, error) {
	raw, _ := t.Site.Config().Get("mail")
	return mail.Parse(raw, t.Site.Secret.Open)
}

// SendTestMail hands a letter in with the site's mail server, to show that its
// settings are right.
func (t *Tenant) SendTestMail(ctx context.Context, to string) error {
	server, err := t.mailServer()
	if err != nil {
		return err
	}
	if server == nil {
		return fault.Invalid("", "The site's configuration has no mail server")
	}
	return (&mail.Sender{Server: *server, Roots: t.c.MailRoots}).Send(ctx, mail.Letter{
		To: to, Subject: "Mail from " + t.Site.Name, Text: "The mail server of the site " + t.Site.Name + " works.\n",
	})
}

// ResetLink makes a link by which a user's password may be set once, for whoever
// may set it anyway. site is the origin of the link; empty: the configuration's.
func (t *Tenant) ResetLink(ctx context.Context, user, site string) (link string, lives time.Duration, err error) {
	if site == "" {
		site = t.Site.Config().URL()
	}
	if site == "" {
		return "", 0, fault.Invalid("", "The site's configuration names neither host_name nor hosts: say where the site is with --url")
	}
	reset, err := t.Auth.NewReset(ctx, user, auth.Remote{})
	if err != nil {
		return "", 0, err
	}
	return resetmail.Link(reset, site), reset.Lives, nil
}
