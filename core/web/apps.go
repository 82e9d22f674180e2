package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/oauth"
)

// appsPath is where the applications are that act for somebody.
const appsPath = "/app/authorized-apps"

// Applications is what the pages need of the provider; *oauth.Service satisfies
// it.
type Applications interface {
	// Grants lists what a user has let in, the newest first.
	Grants(ctx context.Context, user string) ([]oauth.Grant, error)
	// GrantsOf lists who has let a client in, the newest first.
	GrantsOf(ctx context.Context, client string) ([]oauth.Grant, error)
	// EndGrant ends a grant of the caller's own; a System Manager may end any.
	EndGrant(ctx context.Context, caller *identity.Caller, id string) error
	// Asker says which application is behind a login that leads to a path; nil: none.
	Asker(r *http.Request, to string) (*oauth.Asker, error)
}

// application is what one application may do for one user. Each time the user
// is asked makes a grant of its own, which to a person is the same.
type application struct {
	Client string
	Name   string
	Itself bool // nobody here has checked it
	User   string
	Scopes []scope
	First  string // when it was let in
	Last   string // when it was last used
}

// appsView is what the page of the applications shows.
type appsView struct {
	Client string // of whom the users are shown; empty: the applications of one user
	Name   string // of the client
	All    []application
	Action string
	Token  string // of the session
	Ended  bool   // one, just now
	Any    bool   // the caller may see the users of any client
}

// serveApps shows what the caller has let in, and to a System Manager who has let
// a client in; its form ends one.
func (p *Pages) serveApps(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	client := r.URL.Query().Get("client")
	if client != "" && !caller.HasRole(identity.SystemManager) {
		return fault.Denied("Only a System Manager may see who else has let an application in")
	}
	if r.Method == http.MethodPost {
		return p.endApp(w, r, caller, client)
	}
	grants, err := p.grants(r.Context(), caller, client)
	if err != nil {
		return err
	}
	token, err := p.auth.CSRFToken(r.Context(), r)
	if err != nil {
		return err
	}
	v := appsView{
		Client: client, Name: client, All: p.merge(grants), Action: appsPath, Token: token,
		Ended: r.URL.Query().Get("ended") == "1", Any: caller.HasRole(identity.SystemManager),
	}
	title := "Applications"
	if client != "" {
		title = "Users of an application"
		v.Action = withArgument(appsPath, "client", client)
		if len(v.All) > 0 {
			v.Name = v.All[0].Name
		}
	}
	return p.show(w, http.StatusOK, "apps", view{Title: title, Wide: true, Body: v})
}

// grants lists those of the caller, or of a client.
func (p *Pages) grants(ctx context.Context, caller *identity.Caller, client string) ([]oauth.Grant, error) {
	if client != "" {
		return p.applications().GrantsOf(ctx, client)
	}
	return p.applications().Grants(ctx, caller.User)
}

// endApp ends all that one application may do for one user. What has ended
// meanwhile is no error.
func (p *Pages) endApp(w http.ResponseWriter, r *http.Request, caller *identity.Caller, client string) error {
	if err := p.readForm(w, r); err != nil {
		return err
	}
	grants, err := p.grants(r.Context(), caller, client)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if g.Client != r.PostForm.Get("app") || g.User != r.PostForm.Get("user") {
			continue
		}
		err := p.applications().EndGrant(r.Context(), caller, g.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	back := appsPath + "?ended=1"
	if client != "" {
		back = withArgument(back, "client", client)
	}
	return p.sendOn(w, back)
}

// merge makes one application of the grants of each client and user; the order
// stays.
func (p *Pages) merge(grants []oauth.Grant) []application {
	type key struct{ client, user string }
	var order []key
	found := map[key][]oauth.Grant{}
	for _, g := range grants {
		k := key{g.Client, g.User}
		if found[k] == nil {
			order = append(order, k)
		}
		found[k] = append(found[k], g)
	}
	all := make([]application, len(order))
	for i, k := range order {
		all[i] = p.application(found[k])
	}
	return all
}

func (p *Pages) application(grants []oauth.Grant) application {
	a := application{Client: grants[0].Client, Name: plain(grants[0].Name), Itself: grants[0].Itself, User: grants[0].User}
	if a.Name == "" {
		a.Name = "An application that is gone"
	}
	first, last := grants[0].Created, grants[0].LastUsed
	var scopes []string
	for _, g := range grants {
		first = min(first, g.Created)
		if g.LastUsed.After(last) {
			last = g.LastUsed
		}
		for _, s := range g.Scopes {
			if !slices.Contains(scopes, s) {
				scopes = append(scopes, s)
			}
		}
	}
	now := p.now()
	a.Scopes, a.First, a.Last = scopesInWords(scopes), p.since(first), day(last.In(now.Location()), now)
	return a
}

// day is a point in time as a person says it; empty for none.
func day(t, now time.Time) string {
	if t.Year() < 1971 {
		return ""
	}
	switch t.Format(time.DateOnly) {
	case now.Format(time.DateOnly):
		return "today at " + t.Format("15:04")
	case now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "yesterday at " + t.Format("15:04")
	}
	return "on " + t.Format("2 January 2006")
}

// withArgument adds an argument to an address of this site.
func withArgument(address, name, value string) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + url.Values{name: {value}}.Encode()
}
