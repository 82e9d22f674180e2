package resetmail

import (
	"fmt"
	"net/url"
	"time"

	"armature/core/auth"
	"armature/core/mail"
	"armature/core/web"
)

// Link is the address at which whoever has a key sets a password, on the site at an
// origin.
func Link(r *auth.Reset, site string) string {
	return site + web.ResetPath + "?key=" + url.QueryEscape(r.Key)
}

func letter(r *auth.Reset, site string) *mail.Letter {
	return &mail.Letter{
		To: r.Email, Name: r.FullName, Subject: "Reset your password",
		Text: fmt.Sprintf("Hello %s,\n\nsomebody asked to reset the password of %s on %s.\n"+
			"To choose a new password, open this link within %s:\n\n%s\n\n"+
			"It works once. If it was not you who asked, leave it alone: nothing has changed.\n",
			r.FullName, r.User, site, hours(r.Lives), Link(r, site)),
	}
}

// signUpLetter leads to where somebody becomes a user, or says that they are one. It has
// nothing in it that whoever asked could have written but the address.
func signUpLetter(up *auth.SignUp, site string) *mail.Letter {
	if up.Known {
		return &mail.Letter{To: up.Email, Subject: "Your account", Text: fmt.Sprintf("Hello,\n\nsomebody asked for an account for %s on %s. There is one already: log in at\n\n%s\n\n"+
			"or ask there for another password. If it was not you who asked, leave it alone: nothing has changed.\n", up.Email, site, site+web.LoginPath)}
	}
	link := site + web.NewcomerPath + "?key=" + url.QueryEscape(up.Key)
	why := "somebody asked for an account for " + up.Email + " on " + site + "."
	if up.By != "" {
		why = up.By + " has invited you to " + site + "."
	}
	return &mail.Letter{To: up.Email, Name: up.First, Subject: "Make your account", Text: fmt.Sprintf("Hello,\n\n%s\nTo choose a password, open this link within %s:\n\n%s\n\n"+
		"It works once. If you want no account, leave it alone: without the link there is none.\n", why, hours(up.Lives), link)}
}

// codeLetter brings a code to log in with. It has nothing in it that whoever asked could
// have written.
func codeLetter(c *auth.MailedCode, site string) *mail.Letter {
	link := site + web.MailedCodePath + "?key=" + url.QueryEscape(c.Key)
	return &mail.Letter{
		To: c.Email, Name: c.FullName, Subject: "Your code to log in",
		Text: fmt.Sprintf("Hello %s,\n\nsomebody wants to log in as %s on %s. If that is you, type in this code within %s:\n\n    %s\n\n"+
			"or open this link in the browser in which you have asked for it:\n\n%s\n\n"+
			"Tell the code to nobody, and type it in nowhere but on %s. If it was not you who asked, leave it alone: without the code nobody gets in.\n",
			c.FullName, c.User, site, hours(c.Lives), c.Code, link, site),
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
