package web

import (
	"net/http"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
)

// factorPath is where a user sets up and removes a second factor.
const factorPath = "/app/second-factor"

// factorView is what the page shows.
type factorView struct {
	App       string // since when there is one, in words; empty: there is none
	Needed    bool
	Passkeys  int
	Codes     int // left
	Browsers  int
	Fresh     bool   // the login is new enough for a change
	Again     string // where to log in again
	Enrolment *auth.Enrolment
	Token     string // of the session
	Note      string
	Error     string
}

// serveFactor shows a user's second factor; its forms change it.
func (p *Pages) serveFactor(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	b, err := p.session(r, caller)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		return p.showFactor(w, r, b, factorView{Note: factorNotes[r.URL.Query().Get("done")]}, nil)
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	return p.changeFactor(w, r, b)
}

// session is the session by which a request acts. Errors: Permission for whoever acts by
// something else.
func (p *Pages) session(r *http.Request, caller *identity.Caller) (*auth.Browser, error) {
	b, err := p.auth.Browser(r.Context(), r)
	if err != nil {
		return nil, err
	}
	if b == nil || b.Caller.User != caller.User {
		return nil, fault.Denied("This is for people who are logged in")
	}
	return b, nil
}

// factorNotes are what the page says was done.
var factorNotes = map[string]string{
	"removed":   "The app is removed. Your other sessions have ended.",
	"forgotten": "Every browser is asked for a code again.",
}

func (p *Pages) changeFactor(w http.ResponseWriter, r *http.Request, b *auth.Browser) (err error) {
	var v factorView
	code, ctx := r.PostForm.Get("code"), r.Context()
	switch r.PostForm.Get("do") {
	case "begin":
		v.Enrolment, err = p.auth.BeginEnrolment(ctx, b, "", p.name())
	case "confirm":
		begun := r.PostForm.Get("enrolment")
		var codes []string
		if codes, err = p.auth.FinishEnrolment(ctx, b, begun, code, remote(r)); err == nil {
			return p.showCodes(w, "The app is set up. Your other sessions have ended.", codes, factorPath)
		}
		if fault.KindOf(err) == fault.Validation {
			if e, failed := p.auth.BeginEnrolment(ctx, b, begun, p.name()); failed == nil {
				v.Enrolment = e
			}
		}
	case "codes":
		var codes []string
		if codes, err = p.auth.NewRecoveryCodes(ctx, b, code, remote(r)); err == nil {
			return p.showCodes(w, "You have new recovery codes. The ones before work no more.", codes, factorPath)
		}
	case "remove":
		if err = p.auth.RemoveApp(ctx, b, code, remote(r)); err == nil {
			return p.sendOn(w, factorPath+"?done=removed")
		}
	case "forget":
		if err = p.auth.ForgetBrowsers(ctx, b); err == nil {
			return p.sendOn(w, factorPath+"?done=forgotten")
		}
	default:
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	if fault.From(err) != nil && fault.From(err).ExcType() == auth.FreshLoginRequired {
		return p.sendOn(w, provedLogin(factorPath))
	}
	return p.showFactor(w, r, b, v, err)
}

// showFactor shows what there is, and what was wrong.
func (p *Pages) showFactor(w http.ResponseWriter, r *http.Request, b *auth.Browser, v factorView, wrong error) error {
	text, status := shown(w, wrong)
	if status == 0 {
		return wrong
	}
	have, err := p.auth.Factors(r.Context(), b.Caller)
	if err != nil {
		return err
	}
	if v.Token, err = p.auth.CSRFToken(r.Context(), r); err != nil {
		return err
	}
	v.Error, v.Needed, v.Passkeys, v.Codes, v.Browsers = text, have.Needed, have.Passkeys, have.Codes, have.Browsers
	v.Fresh, v.Again = p.auth.Fresh(b) && (have.Passkeys == 0 || b.Proved()), provedLogin(factorPath)
	v.App = p.since(have.App)
	return p.show(w, status, "factor", view{Title: titled("Second factor", text), Body: v})
}

// since is a moment of the database in words; empty for none.
func (p *Pages) since(text string) string {
	now := p.now()
	t, err := time.ParseInLocation(time.DateTime, strings.SplitN(text, ".", 2)[0], now.Location())
	if err != nil {
		return ""
	}
	return day(t, now)
}
