package sites

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/mail"
	"armature/core/web"
)

const (
	// maxWishes is how many resets wait for the mail server at most.
	maxWishes = 100
	// wishTime is how long one may take: looking the user up, handing the letter in.
	wishTime = time.Minute
)

// wish is a reset that somebody asked for. Whether there is such a user is looked
// up after the answer, so neither the answer nor its time tells.
type wish struct {
	typed string
	from  auth.Origin
	site  string // origin of the links
}

// askReset takes the wish for a reset. Errors: those of auth.Service.AskReset;
// Unavailable when too many wait.
func (t *Tenant) askReset(ctx context.Context, r *http.Request, typed string) error {
	from := web.Origin(r.RemoteAddr, r.Header)
	if err := t.Auth.AskReset(ctx, typed, from); err != nil {
		return err
	}
	select {
	case t.wishes <- wish{typed, from, t.origin(r)}:
		return nil
	default:
		return fault.New(fault.Unavailable, "", "Too many mails are waiting; try again in a minute")
	}
}

// startPost answers wishes, one at a time, until the site is closed; what waits
// then is dropped, and may be asked for again.
func (t *Tenant) startPost() {
	t.wishes = make(chan wish, maxWishes)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case w := <-t.wishes:
				t.answerWish(ctx, w)
			}
		}
	}()
	t.stopPost = func() { stop(); <-done }
}

func (t *Tenant) answerWish(ctx context.Context, w wish) {
	ctx, stop := context.WithTimeout(ctx, wishTime)
	defer stop()
	if err := t.sendReset(ctx, w); err != nil && ctx.Err() == nil {
		t.log.Warn("a link to reset a password was asked for and not sent", "error", err)
	}
}

// sendReset makes the key and mails the link. Where no mail can be sent no key is
// made.
func (t *Tenant) sendReset(ctx context.Context, w wish) error {
	server, err := t.mailServer()
	if err == nil {
		err = t.Outgoing()
	}
	switch {
	case err != nil:
		return err
	case server == nil:
		return fmt.Errorf("the site's configuration has no mail server; armature user reset prints a link")
	case w.site == "":
		return fmt.Errorf("the site's configuration has neither host_name nor hosts, and a link may not lead where the request says")
	}
	reset, err := t.Auth.StartReset(ctx, w.typed, w.from)
	if err != nil || reset == nil {
		return err
	}
	return (&mail.Sender{Server: *server, Roots: t.set.c.MailRoots}).Send(ctx, resetLetter(reset, w.site))
}

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
	return (&mail.Sender{Server: *server, Roots: t.set.c.MailRoots}).Send(ctx, mail.Letter{
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
	reset, err := t.Auth.NewReset(ctx, user, auth.Origin{})
	if err != nil {
		return "", 0, err
	}
	return resetLink(reset, site), reset.Lives, nil
}

func resetLink(r *auth.Reset, site string) string {
	return site + web.ResetPath + "?key=" + url.QueryEscape(r.Key)
}

func resetLetter(r *auth.Reset, site string) mail.Letter {
	return mail.Letter{
		To: r.Email, Name: r.FullName, Subject: "Reset your password",
		Text: fmt.Sprintf("Hello %s,\n\nsomebody asked to reset the password of %s on %s.\n"+
			"To choose a new password, open this link within %s:\n\n%s\n\n"+
			"It works once. If it was not you who asked, leave it alone: nothing has changed.\n",
			r.FullName, r.User, site, hours(r.Lives), resetLink(r, site)),
	}
}

// hours is a length of time as a person says it.
func hours(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d seconds", int(d/time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d/time.Minute))
	}
	return fmt.Sprintf("%d hours", int(d/time.Hour))
}

// origin is where the site is, for links that leave it: what the configuration
// says, and of several hosts the one that was asked; empty where it says nothing.
// Whoever made the request has chosen its Host, port and scheme, so none of them
// is copied.
func (t *Tenant) origin(r *http.Request) string {
	return t.Site.Config().URLFor(r.Host)
}
