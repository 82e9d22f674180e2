package connectedapp

import (
	"context"
	"encoding/json"
	"net/http"

	"armature/core/method"
)

// prefix is what the methods of Connected Apps begin with.
const prefix = "framework.integrations.doctype.connected_app.connected_app."

// Methods are the whitelisted functions of Connected App (reference section 8).
func (s *Service) Methods() []*method.Method {
	return []*method.Method{{
		Path:        prefix + "has_token",
		Tier:        method.Named,
		Verbs:       []string{http.MethodGet, http.MethodPost},
		Description: "Whether the user has a connection to the provider that is of use.",
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			app, err := call.Args.Need("connected_app")
			if err != nil {
				return nil, err
			}
			return s.Has(ctx, call.Caller, app, call.Args.Text("connected_user"))
		},
	}}
}

// DocumentMethods are the methods of a Connected App's document.
func (s *Service) DocumentMethods() []method.DocumentMethod {
	return []method.DocumentMethod{{
		DocType: DocType, Name: "get_openid_configuration",
		Func: func(ctx context.Context, on *method.DocumentCall) (any, error) {
			text, err := s.Discovery(ctx, on.Caller, on.Document)
			return json.RawMessage(text), err
		},
	}, {
		DocType: DocType, Name: "initiate_web_application_flow",
		Func: func(ctx context.Context, on *method.DocumentCall) (any, error) {
			origin := ""
			if on.Request != nil {
				origin = on.Request.Origin()
			}
			return s.Begin(ctx, on.Caller, on.Document, on.Args.Text("user"), on.Args.Text("success_uri"), origin)
		},
	}, {
		DocType: DocType, Name: "revoke_token", Verbs: []string{http.MethodPost},
		Func: func(ctx context.Context, on *method.DocumentCall) (any, error) {
			revoked, err := s.End(ctx, on.Caller, on.Document, on.Args.Text("user"))
			return map[string]any{"revoked": revoked}, err
		},
	}}
}
