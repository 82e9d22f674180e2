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

// oldAddressLetter asks the address that a user has. It is the same whether somebody else
// has the new one or not.
func oldAddressLetter(c *auth.AddressChange, site string) *mail.Letter {
	return &mail.Letter{
		To: c.Was, Name: c.FullName, Subject: "Another address for your account",
		Text: fmt.Sprintf("Hello %s,\n\nwhoever is logged in as %s on %s asks for another address:\n\n    %s\n\n"+
			"Letters go there from then on, also those with which the password is set. Open this link within %s to agree, or to refuse it:\n\n%s\n\n"+
			"The new address has to agree as well. If it was not you who asked, refuse it there, and change your password: somebody else is logged in as you.\n",
			c.FullName, c.User, site, c.Email, hours(c.Lives), addressLink(c.OldKey, site)),
	}
}

// newAddressLetter asks the new address. It has nothing in it that whoever asked could have
// written but the address.
func newAddressLetter(c *auth.AddressChange, site string) *mail.Letter {
	if c.Taken {
		return &mail.Letter{To: c.Email, Subject: "Your address", Text: fmt.Sprintf("Hello,\n\nsomebody asked on %s to have their letters sent to %s. There is an account of that address already, so "+
			"nothing has changed, and whoever asked is not told. If that was you, log in with that account.\n", site, c.Email)}
	}
	return &mail.Letter{To: c.Email, Subject: "Is this your address?", Text: fmt.Sprintf("Hello,\n\nsomebody who has an account on %s asks to have %s as its address. If that is you, open this link within %s:\n\n%s\n\n"+
		"The address that the account has now has to agree as well. If it was not you who asked, leave it alone: nothing has changed.\n", site, c.Email, hours(c.Lives), addressLink(c.NewKey, site))}
}

func addressLink(key, site string) string {
	return site + web.AgreePath + "?key=" + url.QueryEscape(key)
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
