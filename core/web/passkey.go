package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
)

// passkeysPath is where a user makes and removes passkeys, and scriptPath the one script
// that these pages have: browsers ask for passkeys by nothing else.
const (
	passkeysPath = "/app/passkeys"
	scriptPath   = LoginPath + "/passkey.js"
)

//go:embed passkey.js
var script string

// scriptAddress changes with the script, which browsers keep for good.
var scriptAddress = func() string {
	sum := sha256.Sum256([]byte(script))
	return scriptPath + "?v=" + hex.EncodeToString(sum[:8])
}()

// Passkeys is what the pages need of passkeys.
type Passkeys interface {
	AskPasskeyLogin(ctx context.Context, site, origin, holder string) (*auth.PasskeyQuestion, error)
	LoginWithPasskey(ctx context.Context, a auth.PasskeyAnswer, holder string, from auth.Remote, session string) (*auth.Login, error)
	AskPasskeyFactor(ctx context.Context, token, site, origin string) (*auth.PasskeyQuestion, error)
	AskLoginPasskey(ctx context.Context, token, site, origin string) (*auth.PasskeyQuestion, error)
	Passkeys(ctx context.Context, caller *identity.Caller, origin string) ([]auth.Passkey, error)
	BeginPasskey(ctx context.Context, b *auth.Browser, site, origin string) (*auth.PasskeyQuestion, error)
	FinishPasskey(ctx context.Context, b *auth.Browser, a auth.PasskeyAnswer, title string, from auth.Remote) (codes []string, err error)
	RenamePasskey(ctx context.Context, b *auth.Browser, name, title string) error
	RemovePasskey(ctx context.Context, b *auth.Browser, name string, from auth.Remote) error
}

// serveScript sends the script. It is the same for everybody.
func serveScript(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write([]byte(script)) // the client is gone
	return nil
}

// askView is a form by which the script asks.
type askView struct {
	Options string
	Token   string
}

func asks(q *auth.PasskeyQuestion) *askView {
	if q == nil {
		return nil
	}
	return &askView{Options: string(q.Options), Token: q.Token}
}

// origin is that of the page a request was made by.
func origin(r *http.Request) string {
	if Secure(r) {
		return "https://" + strings.ToLower(r.Host)
	}
	return "http://" + strings.ToLower(r.Host)
}

// passkeyAnswer is what the script has sent.
func (p *Pages) passkeyAnswer(r *http.Request, token, answer string) auth.PasskeyAnswer {
	return auth.PasskeyAnswer{Token: token, Answer: answer, Site: p.name(), Origin: origin(r)}
}

// askingCookie holds what only the browser has that was asked for a passkey in place of
// a password. It is kept for all its login pages.
const (
	askingCookie = "asking"
	askingLife   = time.Hour
	askingBytes  = 16
)

// holder is the value of that cookie; another one where the browser has brought none.
func holder(w http.ResponseWriter, r *http.Request) string {
	id := brought(r, askingCookie)
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != askingBytes {
		raw := make([]byte, askingBytes)
		rand.Read(raw) // never fails: it ends the program instead
		id = hex.EncodeToString(raw)
	}
	set(w.Header(), r, secretCookie(r, askingCookie), id, askingLife)
	return id
}

// askForPasskey puts the question into the login page where the site has passkeys.
func (p *Pages) askForPasskey(w http.ResponseWriter, r *http.Request, v *loginView) error {
	id := brought(r, askingCookie)
	q, err := p.auth.AskPasskeyLogin(r.Context(), p.name(), origin(r), id)
	if err != nil || q == nil {
		return err
	}
	if now := holder(w, r); now != id {
		if q, err = p.auth.AskPasskeyLogin(r.Context(), p.name(), origin(r), now); err != nil {
			return err
		}
	}
	v.Passkey = asks(q)
	return nil
}

// passkeysView is what the page of passkeys shows.
type passkeysView struct {
	All   []shownPasskey
	Ask   *askView // for one more; nil: not now
	Again string   // where to log in again to change something; empty: the login is new enough
	Token string   // of the session
	Note  string
	Error string
}

type shownPasskey struct {
	Name, Title, Added, Used, Party string
	Alone, Synced, Blocked, Lost    bool
}

// passkeyNotes are what the page says was done.
var passkeyNotes = map[string]string{
	"made":    "The passkey is set up.",
	"renamed": "The passkey has another name.",
	"removed": "The passkey is removed. Your other sessions have ended.",
}

// servePasskeys shows a user's passkeys; its forms change them.
func (p *Pages) servePasskeys(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	b, err := p.session(r, caller)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		return p.showPasskeys(w, r, b, passkeysView{Note: passkeyNotes[r.URL.Query().Get("done")]}, nil)
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	get, ctx, done := r.PostForm.Get, r.Context(), ""
	switch get("do") {
	case "make":
		var codes []string
		codes, err = p.auth.FinishPasskey(ctx, b, p.passkeyAnswer(r, get("question"), get("passkey")), get("title"), remote(r))
		if done = "made"; err == nil && len(codes) > 0 {
			return p.showCodes(w, "The passkey is set up. Your other sessions have ended.", codes, passkeysPath)
		}
	case "rename":
		done, err = "renamed", p.auth.RenamePasskey(ctx, b, get("name"), get("title"))
	case "remove":
		done, err = "removed", p.auth.RemovePasskey(ctx, b, get("name"), remote(r))
	default:
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	switch {
	case err == nil:
		return p.sendOn(w, passkeysPath+"?done="+done)
	case fault.From(err).ExcType() == auth.FreshLoginRequired:
		return p.sendOn(w, provedLogin(passkeysPath))
	}
	return p.showPasskeys(w, r, b, passkeysView{}, err)
}

// provedLogin is the address at which a user logs in again, with the second factor
// itself, and comes back.
func provedLogin(back string) string { return withArgument(SwitchUser(back), "second-factor", "1") }

// showPasskeys shows what there is, and what was wrong.
func (p *Pages) showPasskeys(w http.ResponseWriter, r *http.Request, b *auth.Browser, v passkeysView, wrong error) error {
	text, status := shown(w, wrong)
	if status == 0 {
		return wrong
	}
	list, err := p.auth.Passkeys(r.Context(), b.Caller, origin(r))
	if err != nil {
		return err
	}
	for _, k := range list {
		s := shownPasskey{Name: k.Name, Title: k.Title, Added: p.since(k.Added), Party: k.Party, Alone: k.Alone, Synced: k.Synced, Blocked: k.Blocked, Lost: k.Lost}
		if now := p.now(); k.Used > 0 {
			s.Used = day(time.Unix(k.Used, 0).In(now.Location()), now)
		}
		v.All = append(v.All, s)
	}
	if v.Token, err = p.auth.CSRFToken(r.Context(), r); err != nil {
		return err
	}
	q, err := p.auth.BeginPasskey(r.Context(), b, p.name(), origin(r))
	switch {
	case err == nil:
		v.Ask = asks(q)
	case fault.From(err).ExcType() == auth.FreshLoginRequired:
		v.Again = provedLogin(passkeysPath)
	case fault.KindOf(err) == fault.Validation: // none at that address, or enough of them
		if text == "" {
			text = fault.From(err).Message
		}
	default:
		return err
	}
	v.Error = text
	return p.show(w, status, "passkeys", view{Title: titled("Passkeys", text), Wide: true, Script: v.Ask != nil, Body: v})
}
