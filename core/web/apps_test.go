package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/oauth"
	"armature/core/web"
)

// grants is a provider that only knows who let what in.
type grants struct{ all []oauth.Grant }

func (g *grants) filter(keep func(oauth.Grant) bool) []oauth.Grant {
	var found []oauth.Grant
	for _, one := range g.all {
		if keep(one) {
			found = append(found, one)
		}
	}
	return found
}

func (g *grants) Grants(_ context.Context, user string) ([]oauth.Grant, error) {
	return g.filter(func(o oauth.Grant) bool { return o.User == user }), nil
}

func (g *grants) GrantsOf(_ context.Context, client string) ([]oauth.Grant, error) {
	return g.filter(func(o oauth.Grant) bool { return o.Client == client }), nil
}

func (g *grants) EndGrant(_ context.Context, caller *identity.Caller, id string) error {
	at := slices.IndexFunc(g.all, func(o oauth.Grant) bool { return o.ID == id })
	if at < 0 || g.all[at].User != caller.User && !caller.HasRole(identity.SystemManager) {
		return fault.Missing("There is no such grant")
	}
	g.all = slices.Delete(g.all, at, at+1)
	return nil
}

// open is an authentication that lets every form in.
type open struct{ web.Auth }

func (open) SameOrigin(*http.Request) error                           { return nil }
func (open) CSRFToken(context.Context, *http.Request) (string, error) { return "token", nil }

func TestApplications(t *testing.T) {
	now := time.Date(2031, 3, 4, 12, 30, 0, 0, time.FixedZone("", 3600))
	yesterday := now.AddDate(0, 0, -1).UTC()
	g := &grants{all: []oauth.Grant{
		{ID: "3", Client: "c1", Name: "Acme <b>", User: "jane", Scopes: []string{"all"}, Created: "2031-03-04 09:05:00.000000", LastUsed: time.Unix(0, 0)},
		{ID: "2", Client: "c2", Name: "", User: "jane", Scopes: nil, Created: "2030-01-02 03:04:05.000000", LastUsed: time.Unix(0, 0)},
		{ID: "1", Client: "c1", Name: "Acme <b>", User: "jane", Scopes: []string{"openid", "all"}, Created: "2031-02-01 09:05:00.000000", LastUsed: yesterday},
		{ID: "0", Client: "c1", Name: "Acme <b>", User: "rob", Scopes: []string{"openid"}, Created: "2031-02-01 09:05:00.000000", LastUsed: yesterday},
	}}
	p := web.New(web.Config{
		Auth: open{}, Name: func() string { return "Test" }, Now: func() time.Time { return now },
		Applications: func() web.Applications { return g },
	})
	jane, boss := &identity.Caller{User: "jane"}, &identity.Caller{User: "boss", Roles: []string{identity.SystemManager}}
	serve := func(caller *identity.Caller, verb, path string, form url.Values) (*httptest.ResponseRecorder, error) {
		r := httptest.NewRequest(verb, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		return w, p.ServePage(w, r, caller)
	}
	page := func(caller *identity.Caller, path string) string {
		t.Helper()
		w, err := serve(caller, "GET", path, nil)
		if err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %v", path, w.Code, err)
		}
		return w.Body.String()
	}
	const apps = "/app/authorized-apps"

	text := page(jane, apps)
	if strings.Count(text, "<form") != 2 || strings.Contains(text, "rob") || strings.Contains(text, "?client=") {
		t.Errorf("jane's applications: %s", text)
	}
	for _, want := range []string{
		"Acme &lt;b&gt;", "Do everything", "your name, e-mail address", "Let in on 1 February 2031. Last used yesterday at 12:30.",
		"An application that is gone", "nothing else", "Let in on 2 January 2030. Not used yet.", `action="/app/authorized-apps"`, `name="csrf_token" value="token"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("jane's applications lack %q", want)
		}
	}
	if _, err := serve(jane, "GET", apps+"?client=c1", nil); fault.KindOf(err) != fault.Permission {
		t.Errorf("jane sees whose an application is: %v", err)
	}
	if _, err := serve(jane, "POST", apps+"?client=c1", url.Values{"app": {"c1"}, "user": {"rob"}}); fault.KindOf(err) != fault.Permission {
		t.Errorf("jane ends rob's: %v", err)
	}

	// Nothing of rob's ends by jane's form, and all of her own does.
	for _, user := range []string{"rob", "jane", "jane"} {
		w, err := serve(jane, "POST", apps, url.Values{"app": {"c1"}, "user": {user}})
		if err != nil || w.Code != 303 || w.Header().Get("Location") != apps+"?ended=1" {
			t.Errorf("%d %v %v", w.Code, err, w.Header())
		}
	}
	if left := g.filter(func(oauth.Grant) bool { return true }); len(left) != 2 || left[0].ID != "2" || left[1].ID != "0" {
		t.Errorf("left: %v", left)
	}

	text = page(boss, apps+"?client=c1&ended=1")
	if !strings.Contains(text, "Who has let <bdi>Acme &lt;b&gt;</bdi> in") || !strings.Contains(text, "<bdi>rob</bdi>") || !strings.Contains(text, "no access any more") ||
		!strings.Contains(text, `action="/app/authorized-apps?client=c1"`) {
		t.Errorf("the administrator's view: %s", text)
	}
	w, err := serve(boss, "POST", apps+"?client=c1", url.Values{"app": {"c1"}, "user": {"rob"}})
	if err != nil || w.Header().Get("Location") != apps+"?ended=1&client=c1" || len(g.all) != 1 {
		t.Errorf("%v %v %v", err, w.Header(), g.all)
	}
	if text := page(boss, apps); !strings.Contains(text, "No application may act for you") {
		t.Errorf("none: %s", text)
	}
	if text := page(boss, apps+"?client=%3Cb%3E"); !strings.Contains(text, "Nobody has let") || strings.Contains(text, "<b>") {
		t.Errorf("an unknown client: %s", text)
	}
}

func (*grants) Asker(*http.Request, string) (*oauth.Asker, error) { return nil, nil }
