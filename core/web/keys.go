package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/route"
)

// keysPath is where a user makes and ends the keys of programs.
const keysPath = "/app/keys"

// defaultKeyDays is how long the form proposes that a key lives.
const defaultKeyDays = "90"

// Keys is what the pages need of API keys.
type Keys interface {
	NamedKeys(ctx context.Context, b *auth.Browser) ([]auth.NamedKey, error)
	MayMakeKey(ctx context.Context, b *auth.Browser) error
	MakeKey(ctx context.Context, b *auth.Browser, n auth.NewKey, from auth.Remote) (auth.Keys, error)
	EndKey(ctx context.Context, b *auth.Browser, key string, from auth.Remote) error
}

// keysView is what the page shows.
type keysView struct {
	All                 []shownKey
	Made                *auth.Keys // just now: the one time that the secret is shown
	Site                string     // its address
	Title, Wanted, Days string     // as the form was sent
	Again               string     // where to log in again to make one; empty: the login is new enough
	Token               string     // of the session
	Note                string
	Error               string
}

type shownKey struct {
	Key, Title, Added, Expires, Used string
	Scopes                           []scope
	Expired, Single                  bool
}

// serveKeys shows a user's keys; its forms make and end them.
func (p *Pages) serveKeys(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	b, err := p.session(r, caller)
	if err != nil {
		return err
	}
	v := keysView{Days: defaultKeyDays}
	if r.Method != http.MethodPost {
		if r.URL.Query().Get("done") == "ended" {
			v.Note = "The key has ended."
		}
		return p.showKeys(w, r, b, v, nil)
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	get := r.PostForm.Get
	switch get("do") {
	case "end":
		// One that has ended meanwhile is no error.
		if err = p.auth.EndKey(r.Context(), b, get("key"), remote(r)); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		return p.sendOn(w, keysPath+"?done=ended")
	case "make":
	default:
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	v.Title, v.Wanted, v.Days = get("title"), get("scopes"), get("days")
	days, err := strconv.Atoi(strings.TrimSpace(v.Days))
	if err != nil {
		return p.showKeys(w, r, b, v, wrongDays())
	}
	made, err := p.auth.MakeKey(r.Context(), b, auth.NewKey{Title: v.Title, Scopes: strings.Fields(v.Wanted), Days: days}, remote(r))
	if err != nil {
		if fault.From(err).ExcType() == auth.FreshLoginRequired {
			return p.sendOn(w, provedLogin(keysPath))
		}
		return p.showKeys(w, r, b, v, err)
	}
	return p.show(w, http.StatusOK, "keys", view{Title: "The new key", Wide: true, Body: keysView{Made: &made, Site: origin(r)}})
}

func wrongDays() error { return fault.Invalid("", "The days until a key ends are a whole number") }

// showKeys shows what there is, and what was wrong.
func (p *Pages) showKeys(w http.ResponseWriter, r *http.Request, b *auth.Browser, v keysView, wrong error) error {
	text, status := shown(w, wrong)
	if status == 0 {
		return wrong
	}
	list, err := p.auth.NamedKeys(r.Context(), b)
	if err != nil {
		return err
	}
	now := p.now()
	at := func(seconds int64) string {
		if seconds == 0 {
			return ""
		}
		return day(time.Unix(seconds, 0).In(now.Location()), now)
	}
	for _, k := range list {
		scopes := k.Scopes
		if len(scopes) == 0 {
			scopes = []string{"all"}
		}
		title := k.Title
		if k.Single {
			title = "The key of your user"
		}
		v.All = append(v.All, shownKey{Key: k.Key, Title: title, Added: p.since(k.Added), Expires: at(k.Expires), Expired: k.Expired, Used: at(k.Used), Single: k.Single,
			Scopes: scopesInWords(essential(scopes))})
	}
	if v.Token, err = p.auth.CSRFToken(r.Context(), r); err != nil {
		return err
	}
	switch err := p.auth.MayMakeKey(r.Context(), b); {
	case err == nil:
	case fault.From(err).ExcType() == auth.FreshLoginRequired:
		v.Again = provedLogin(keysPath)
	default:
		return err
	}
	v.Error = text
	return p.show(w, status, "keys", view{Title: titled("Keys", text), Wide: true, Body: v})
}

// keyMethods are the same for programs that act by a session of their user: a key or a
// token sees, makes and ends none. Errors: those of the methods of auth.Service.
func (p *Pages) keyMethods() []*route.Raw {
	const prefix = "framework.key."
	get, post := []string{http.MethodGet, http.MethodPost}, []string{http.MethodPost}
	return []*route.Raw{
		p.sessionMethod(prefix+"list", get, p.keyList),
		p.sessionArgs(prefix+"create", post, p.keyCreate),
		p.sessionMethod(prefix+"end", post, func(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
			return struct{}{}, p.auth.EndKey(r.Context(), b, get("key"), remote(r))
		}),
	}
}

func (p *Pages) keyList(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
	list, err := p.auth.NamedKeys(r.Context(), b)
	type shown struct {
		Key     string   `json:"api_key"`
		Title   string   `json:"title"`
		Scopes  []string `json:"scopes"` // none: it may what its user may
		Added   string   `json:"creation"`
		Expires int64    `json:"expires"` // seconds since 1970; 0: never
		Expired bool     `json:"expired"`
		Used    int64    `json:"last_used"` // seconds since 1970, to five minutes; 0: never
		Single  bool     `json:"single"`    // that of the user's document, of whose making and use nothing is known
	}
	all := make([]shown, len(list))
	for i, k := range list {
		if k.Scopes == nil {
			k.Scopes = []string{}
		}
		all[i] = shown{k.Key, k.Title, k.Scopes, k.Added, k.Expires, k.Expired, k.Used, k.Single}
	}
	return all, err
}

// keyCreate takes title, scopes, a list or a text with spaces between them, and days, a
// whole number. Scopes that are neither are refused: left out by a slip of the program
// they would stand for all that the user may.
func (p *Pages) keyCreate(r *http.Request, b *auth.Browser, get func(string) any) (any, error) {
	var n auth.NewKey
	n.Title, _ = get("title").(string)
	switch scopes := get("scopes").(type) {
	case nil:
	case string:
		n.Scopes = strings.Fields(scopes)
	case []any:
		for _, one := range scopes {
			text, ok := one.(string)
			if !ok || text == "" {
				return nil, fault.Invalid("", "scopes is a list of texts")
			}
			n.Scopes = append(n.Scopes, text)
		}
	default:
		return nil, fault.Invalid("", "scopes is a list of texts, or one text with spaces between them")
	}
	if given := get("days"); given != nil {
		number, isNumber := given.(json.Number)
		text, isText := given.(string)
		days, err := strconv.Atoi(strings.TrimSpace(string(number) + text))
		if err != nil || !isNumber && !isText {
			return nil, wrongDays()
		}
		n.Days = days
	}
	return p.auth.MakeKey(r.Context(), b, n, remote(r))
}
