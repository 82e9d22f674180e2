package web

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"
	"unicode"

	"armature/core/confirm"
	"armature/core/fault"
	"armature/core/identity"
)

// confirmPath is where a user confirms what an agent wants to do; the id of the
// confirmation follows.
const confirmPath = "/app/confirm/"

// Confirmations is what the pages need of calls that wait; *confirm.Service satisfies it.
type Confirmations interface {
	Of(ctx context.Context, user, id string) (*confirm.Confirmation, error)
	Decide(ctx context.Context, user, id string, allow bool) error
}

// confirmView is what the page shows.
type confirmView struct {
	confirm.Content
	Application string // whom the user has let in; empty: whoever has an API key
	Client      string
	User        string
	Action      string
	Token       string
	Until       string
}

// serveConfirm shows what an agent wants to do; its form decides. It is for a session of
// the user for whom the agent acts: no key and no token gets here.
func (p *Pages) serveConfirm(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	b, err := p.session(r, caller)
	if err != nil {
		return err
	}
	id := strings.TrimPrefix(r.URL.Path, confirmPath)
	c, err := p.confirms.Of(r.Context(), b.Caller.User, id)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		return p.decide(w, r, b.Caller, c)
	}
	if c.Status != confirm.Pending {
		return p.decided(w, c.Status)
	}
	v := confirmView{Content: visible(c.Content), Client: c.Client, User: b.Caller.User, Action: r.URL.Path}
	if v.Application, err = p.applicationOf(r.Context(), b.Caller, c.Client); err != nil {
		return err
	}
	now := p.now()
	v.Until = time.Unix(c.Expires, 0).In(now.Location()).Format("15:04")
	if v.Token, err = p.auth.CSRFToken(r.Context(), r); err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "confirm", view{Title: "Confirm what an agent wants to do", Wide: true, Body: v})
}

func (p *Pages) decide(w http.ResponseWriter, r *http.Request, caller *identity.Caller, c *confirm.Confirmation) error {
	if err := p.readForm(w, r); err != nil {
		return err
	}
	// Whoever decides has been given the page, whatever the site asks of other forms.
	token, err := p.auth.CSRFToken(r.Context(), r)
	if err != nil {
		return err
	}
	if token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(r.PostForm.Get("csrf_token"))) != 1 {
		return fault.New(fault.BadRequest, "CSRFTokenError", "Open the page again: the form is not one that it has shown you")
	}
	decision := r.PostForm.Get("decision")
	if decision != "allow" && decision != "deny" {
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	err = p.confirms.Decide(r.Context(), caller.User, c.ID, decision == "allow")
	if err != nil && fault.KindOf(err) != fault.Gone { // the page says how it was decided
		return err
	}
	return p.sendOn(w, confirmPath+c.ID)
}

func (p *Pages) decided(w http.ResponseWriter, status string) error {
	v := errorView{Heading: "Confirmed", Text: []string{"Go back to the agent and tell it to go on: it makes the call again, and this time it happens."}}
	switch status {
	case confirm.Refused:
		v = errorView{Heading: "Refused", Text: []string{"Nothing was changed, and the agent is told that you do not want it."}}
	case confirm.Used:
		v = errorView{Heading: "Done", Text: []string{"The agent has made the call that you confirmed."}}
	}
	v.Link, v.LinkText = homePath, "Back to your account"
	return p.show(w, http.StatusOK, "error", view{Title: v.Heading, Body: v})
}

// applicationOf is what a client is called that a user has let in.
func (p *Pages) applicationOf(ctx context.Context, caller *identity.Caller, client string) (string, error) {
	if client == "" {
		return "", nil
	}
	grants, err := p.applications().Grants(ctx, caller.User)
	if err != nil {
		return "", err
	}
	for _, g := range grants {
		if g.Client == client && plain(g.Name) != "" {
			return plain(g.Name), nil
		}
	}
	return "An application without a name", nil
}

// visible is what is shown of a call with letters that are not seen, or that turn the
// direction of writing, replaced: who confirms sees what is there.
func visible(c confirm.Content) confirm.Content {
	c.Agent, c.Tool = seen(c.Agent), seen(c.Tool)
	c.Unforeseen = mapped(c.Unforeseen, seen)
	c.Arguments = mapped(c.Arguments, func(a confirm.Argument) confirm.Argument {
		return confirm.Argument{Name: seen(a.Name), Value: seen(a.Value)}
	})
	c.Changes = mapped(c.Changes, func(change confirm.Change) confirm.Change {
		change.DocType, change.Name = seen(change.DocType), seen(change.Name)
		change.Fields = mapped(change.Fields, func(f confirm.Field) confirm.Field {
			return confirm.Field{Name: seen(f.Name), Before: seen(f.Before), After: seen(f.After)}
		})
		return change
	})
	return c
}

func mapped[T any](list []T, fn func(T) T) []T {
	all := make([]T, len(list))
	for i, v := range list {
		all[i] = fn(v)
	}
	return all
}

func seen(text string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c)) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
}
