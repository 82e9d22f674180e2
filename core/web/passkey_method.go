package web

import (
	"encoding/json"
	"net/http"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/route"
)

// passkeyPrefix begins the paths of the methods of passkeys.
const passkeyPrefix = "framework.passkey."

// passkeyMethods are what the pages do for programs: login_options and login for whoever
// is nobody yet, and for whoever is logged in, about their own, list, begin, confirm,
// rename and remove. Errors: those of the methods of auth.Service.
func (p *Pages) passkeyMethods() []*route.Raw {
	post := []string{http.MethodPost}
	return []*route.Raw{
		{Path: passkeyPrefix + "login_options", Verbs: post, NoCredentials: true, Serve: route.WithArgs(p.passkeyLoginOptions)},
		{Path: passkeyPrefix + "login", Verbs: post, NoCredentials: true, Serve: route.WithArgs(p.passkeyLogin)},
		p.sessionMethod(passkeyPrefix+"list", []string{http.MethodGet, http.MethodPost}, p.passkeyList),
		p.sessionMethod(passkeyPrefix+"begin", post, func(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
			q, err := p.auth.BeginPasskey(r.Context(), b, p.name(), origin(r))
			return askedFor(q), err
		}),
		p.sessionMethod(passkeyPrefix+"confirm", post, func(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
			codes, err := p.auth.FinishPasskey(r.Context(), b, p.passkeyAnswer(r, get("question"), get("passkey")), get("title"), remote(r))
			if codes == nil {
				codes = []string{} // another factor has some
			}
			return newCodes{codes}, err
		}),
		p.sessionMethod(passkeyPrefix+"rename", post, func(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
			return struct{}{}, p.auth.RenamePasskey(r.Context(), b, get("name"), get("title"))
		}),
		p.sessionMethod(passkeyPrefix+"remove", post, func(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
			return struct{}{}, p.auth.RemovePasskey(r.Context(), b, get("name"), remote(r))
		}),
	}
}

// questionAnswer is a question as a program gets it.
type questionAnswer struct {
	Options  json.RawMessage `json:"options"`  // of navigator.credentials
	Question string          `json:"question"` // goes back with the answer
}

func askedFor(q *auth.PasskeyQuestion) *questionAnswer {
	if q == nil {
		return nil
	}
	return &questionAnswer{q.Options, q.Token}
}

// passkeyLoginOptions asks for a passkey; message is null where the site has none.
func (p *Pages) passkeyLoginOptions(w http.ResponseWriter, r *http.Request, _ func(string) any) error {
	if err := p.auth.TrustedOrigin(r); err != nil {
		return err
	}
	q, err := p.auth.AskPasskeyLogin(r.Context(), p.name(), origin(r), holder(w, r))
	if err != nil {
		return err
	}
	p.guard(w.Header())
	return sendJSON(w, map[string]any{"message": askedFor(q)})
}

// passkeyLogin logs in with the answer: arguments question, and passkey, the text of
// PublicKeyCredential.toJSON().
func (p *Pages) passkeyLogin(w http.ResponseWriter, r *http.Request, get func(string) any) error {
	if err := p.auth.TrustedOrigin(r); err != nil {
		return err
	}
	token, _ := get("question").(string)
	answer, _ := get("passkey").(string)
	if token == "" || answer == "" {
		return fault.Invalid("", "question and passkey are needed, both as text")
	}
	login, err := p.auth.LoginWithPasskey(r.Context(), p.passkeyAnswer(r, token, answer), brought(r, askingCookie), remote(r), auth.BroughtSession(r))
	if err != nil {
		return err
	}
	return p.answerLogin(w, r, login)
}

func (p *Pages) passkeyList(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
	list, err := p.auth.Passkeys(r.Context(), b.Caller, origin(r))
	type shown struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Added   string `json:"creation"`
		Used    int64  `json:"last_used"` // seconds since 1970; 0: never
		Alone   bool   `json:"alone"`     // it does in place of a password
		Synced  bool   `json:"synced"`
		Blocked bool   `json:"blocked"` // it may have been copied
		Domain  string `json:"domain"`
		Lost    bool   `json:"lost"` // the site has left that domain
	}
	all := make([]shown, len(list))
	for i, k := range list {
		all[i] = shown{k.Name, k.Title, k.Added, k.Used, k.Alone, k.Synced, k.Blocked, k.Party, k.Lost}
	}
	return all, err
}
