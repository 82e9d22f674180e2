package web

import (
	"net/http"

	"armature/core/auth"
	"armature/core/route"
)

// factorPrefix begins the paths of the methods of second factors.
const factorPrefix = "framework.second_factor."

// factorMethod is a method by which a program does with its user's session what the
// page does. Errors: those of the methods of auth.Service; 403 FreshLoginRequired where
// the login is too old, and 403 for whoever has no session, be it with a key or a token.
type factorMethod func(r *http.Request, b *auth.Browser, get func(name string) string) (any, error)

// factorMethods are the methods of second factors. Each is called by whoever is logged
// in, about their own.
func (p *Pages) factorMethods() []*route.Raw {
	post := []string{http.MethodPost}
	return []*route.Raw{
		p.factorMethod("status", []string{http.MethodGet, http.MethodPost}, p.factorStatus),
		p.factorMethod("begin", post, p.factorBegin),
		p.factorMethod("confirm", post, p.factorConfirm),
		p.factorMethod("recovery_codes", post, func(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
			codes, err := p.auth.NewRecoveryCodes(r.Context(), b, get("code"), remote(r))
			return newCodes{codes}, err
		}),
		p.factorMethod("remove", post, func(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
			return struct{}{}, p.auth.RemoveApp(r.Context(), b, get("code"), remote(r))
		}),
		p.factorMethod("forget_browsers", post, func(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
			return struct{}{}, p.auth.ForgetBrowsers(r.Context(), b)
		}),
	}
}

func (p *Pages) factorMethod(name string, verbs []string, serve factorMethod) *route.Raw {
	return p.sessionMethod(factorPrefix+name, verbs, serve)
}

// sessionMethod is a method of whoever is logged in, by a session, whose arguments are
// texts.
func (p *Pages) sessionMethod(path string, verbs []string, serve factorMethod) *route.Raw {
	return p.sessionArgs(path, verbs, func(r *http.Request, b *auth.Browser, get func(name string) any) (any, error) {
		return serve(r, b, func(name string) string {
			text, _ := get(name).(string)
			return text
		})
	})
}

// sessionArgs is sessionMethod with arguments as JSON gave them.
func (p *Pages) sessionArgs(path string, verbs []string, serve func(r *http.Request, b *auth.Browser, get func(name string) any) (any, error)) *route.Raw {
	return &route.Raw{Path: path, Verbs: verbs, Serve: func(w http.ResponseWriter, r *http.Request, call *route.Call) error {
		b, err := p.session(r, call.Caller)
		if err != nil {
			return err
		}
		args, err := call.Args()
		if err != nil {
			return err
		}
		message, err := serve(r, b, args.Get)
		if err != nil {
			return err
		}
		p.guard(w.Header())
		return sendJSON(w, map[string]any{"message": message})
	}}
}

type newCodes struct {
	Codes []string `json:"recovery_codes"` // shown once
}

func (p *Pages) factorStatus(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
	have, err := p.auth.Factors(r.Context(), b.Caller)
	return struct {
		App      string `json:"app,omitempty"` // since when
		Passkeys int    `json:"passkeys"`
		Codes    int    `json:"recovery_codes"`
		Browsers int    `json:"browsers"`
		Needed   bool   `json:"needed"`
	}{have.App, have.Passkeys, have.Codes, have.Browsers, have.Needed}, err
}

func (p *Pages) factorBegin(r *http.Request, b *auth.Browser, _ func(string) string) (any, error) {
	e, err := p.auth.BeginEnrolment(r.Context(), b, "", p.name())
	if err != nil {
		return nil, err
	}
	return struct {
		Secret string `json:"secret"`
		URI    string `json:"uri"`
		Token  string `json:"enrolment"` // goes back to confirm
	}{e.Secret, e.URI, e.Token}, nil
}

func (p *Pages) factorConfirm(r *http.Request, b *auth.Browser, get func(string) string) (any, error) {
	codes, err := p.auth.FinishEnrolment(r.Context(), b, get("enrolment"), get("code"), remote(r))
	return newCodes{codes}, err
}
