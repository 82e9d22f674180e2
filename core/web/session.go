package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/route"
)

// sessionsPath is where a user sees where they are logged in, and what has happened.
const sessionsPath = "/app/sessions"

// Sessions is what the pages need of a user's sessions.
type Sessions interface {
	Sessions(ctx context.Context, b *auth.Browser) ([]auth.OwnSession, error)
	EndSession(ctx context.Context, b *auth.Browser, name string, from auth.Remote) error
	EndOtherSessions(ctx context.Context, b *auth.Browser, from auth.Remote) (ended int, err error)
	Activities(ctx context.Context, caller *identity.Caller) ([]auth.OwnActivity, error)
}

// sessionsView is what the page shows.
type sessionsView struct {
	All      []shownSession
	Others   bool
	Happened []shownActivity
	Token    string // of the session
	Note     string
}

type shownSession struct {
	Name, Device, Address, Begun, Used string
	Current                            bool
}

type shownActivity struct {
	Subject, When, Device, Address string
	Refused                        bool
}

// sessionNotes are what the page says was done.
var sessionNotes = map[string]string{
	"ended":  "The session has ended.",
	"others": "Your other sessions have ended.",
}

// serveSessions shows a user's sessions; its forms end them.
func (p *Pages) serveSessions(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	b, err := p.session(r, caller)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		return p.showSessions(w, r, b)
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	done := "ended"
	switch r.PostForm.Get("do") {
	case "end":
		// One that has ended meanwhile is no error.
		if err = p.auth.EndSession(r.Context(), b, r.PostForm.Get("name"), remote(r)); fault.KindOf(err) == fault.NotFound {
			err = nil
		}
	case "others":
		done = "others"
		_, err = p.auth.EndOtherSessions(r.Context(), b, remote(r))
	default:
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	if err != nil {
		return err
	}
	return p.sendOn(w, sessionsPath+"?done="+done)
}

func (p *Pages) showSessions(w http.ResponseWriter, r *http.Request, b *auth.Browser) error {
	list, err := p.auth.Sessions(r.Context(), b)
	if err != nil {
		return err
	}
	v := sessionsView{Note: sessionNotes[r.URL.Query().Get("done")]}
	now := p.now()
	at := func(seconds int64) string { return day(time.Unix(seconds, 0).In(now.Location()), now) }
	for _, s := range list {
		v.All = append(v.All, shownSession{Name: s.Name, Device: deviceOf(s.Agent), Address: s.Address, Begun: at(s.Begun), Used: at(s.LastUsed), Current: s.Current})
		v.Others = v.Others || !s.Current
	}
	happened, err := p.auth.Activities(r.Context(), b.Caller)
	if err != nil {
		return err
	}
	for _, a := range happened {
		v.Happened = append(v.Happened, shownActivity{Subject: a.Subject, When: p.since(a.At), Device: deviceOf(a.Agent), Address: a.Address, Refused: a.Refused})
	}
	if v.Token, err = p.auth.CSRFToken(r.Context(), r); err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "sessions", view{Title: "Sessions", Wide: true, Body: v})
}

// sessionMethods are the same for programs that act by a session of their user: a key or
// a token sees and ends none.
func (p *Pages) sessionMethods() []*route.Raw {
	const prefix = "framework.session."
	get, post := []string{http.MethodGet, http.MethodPost}, []string{http.MethodPost}
	return []*route.Raw{
		p.sessionMethod(prefix+"list", get, p.sessionList),
		p.sessionMethod(prefix+"end", post, func(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
			return struct{}{}, p.auth.EndSession(r.Context(), b, get("name"), remote(r))
		}),
		p.sessionMethod(prefix+"end_others", post, func(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
			ended, err := p.auth.EndOtherSessions(r.Context(), b, remote(r))
			return struct {
				Ended int `json:"ended"`
			}{ended}, err
		}),
		p.sessionMethod(prefix+"activity", get, p.ownActivity),
	}
}

func (p *Pages) sessionList(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
	list, err := p.auth.Sessions(r.Context(), b)
	type shown struct {
		Name    string   `json:"name"` // by which it is ended
		Current bool     `json:"current"`
		Begun   int64    `json:"begun"`     // seconds since 1970
		Used    int64    `json:"last_used"` // the same, to five minutes
		Address string   `json:"address"`
		Agent   string   `json:"user_agent"`
		Methods []string `json:"amr"` // RFC 8176
	}
	all := make([]shown, len(list))
	for i, s := range list {
		all[i] = shown{s.Name, s.Current, s.Begun, s.LastUsed, s.Address, s.Agent, s.Methods}
	}
	return all, err
}

func (p *Pages) ownActivity(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
	list, err := p.auth.Activities(r.Context(), b.Caller)
	type shown struct {
		Subject string `json:"subject"`
		Refused bool   `json:"refused"`
		At      string `json:"creation"`
		Address string `json:"address"`
		Agent   string `json:"user_agent"`
	}
	all := make([]shown, len(list))
	for i, a := range list {
		all[i] = shown{a.Subject, a.Refused, a.At, a.Address, a.Agent}
	}
	return all, err
}

// deviceOf says in words what a browser says it is: enough to know it again. Every
// browser names others, so the first of the list counts.
func deviceOf(agent string) string {
	find := func(list [][2]string) string {
		for _, known := range list {
			if strings.Contains(agent, known[0]) {
				return known[1]
			}
		}
		return ""
	}
	browser := find([][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS", "Firefox"},
		{"CriOS", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}})
	system := find([][2]string{{"Android", "Android"}, {"iPhone", "an iPhone"}, {"iPad", "an iPad"}, {"Windows", "Windows"}, {"Mac OS X", "a Mac"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}})
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case agent == "":
		return "A program"
	}
	return plain(agent)
}
