package oauth

import (
	"context"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/oauth/oauthstore"
)

// Hooks is the life of the provider's documents.
func (s *Service) Hooks() document.Hooks { return hooks{s} }

type hooks struct{ s *Service }

// Handles covers the provider's own documents.
func (hooks) Handles(typeName string) bool {
	switch typeName {
	case clientName, settingsName, oauthstore.GrantName, oauthstore.CodeName, oauthstore.TokenName, oauthstore.DeviceName, keyName:
		return true
	}
	return false
}

func (hooks) RunsPlugins(string) bool { return false }

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	switch ev.Doc.Type.Name {
	case clientName:
		return h.client(ctx, ev)
	case settingsName:
		return h.settings(ctx, ev)
	}
	switch ev.Name {
	case document.BeforeValidate, document.BeforeRename:
		return fault.Denied("%s is written by the OAuth provider alone", ev.Doc.Type.Name)
	case document.OnTrash:
		// Nor does one application decide about what a user has let others do.
		if ev.Caller.Client != "" {
			return fault.Denied("An application cannot do this")
		}
	case document.AfterDelete: // of a grant: nothing issued under it counts any more
		if ev.Doc.Type.Name == oauthstore.GrantName {
			told := h.s.ending("Grant", "", byUser, ev.Caller)
			if err := told(ctx, ev.Tx, &oauthstore.Grant{Client: ev.Doc.Text("client"), User: ev.Doc.Text("user")}); err != nil {
				return err
			}
		}
		return h.s.c.Auth.Changed(ctx, ev.Tx)
	}
	return nil
}

func (h hooks) settings(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.Validate:
		return checkSettings(ev.Doc)
	case document.OnUpdate:
		if err := h.s.recordChange(ctx, ev); err != nil {
			return err
		}
		return h.s.c.Auth.Changed(ctx, ev.Tx)
	}
	return nil
}

func (h hooks) client(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	switch ev.Name {
	case document.BeforeInsert:
		// Neither is chosen by anybody: an id that was in use before must not come
		// back, and a secret is as good as its randomness.
		id := newID()
		doc.Put("name", id)
		doc.Put("sealed_secret", h.s.seal(id, random()))
	case document.BeforeValidate:
		doc.Put("client_id", doc.Name())
		doc.Put("client_secret", nil)
		if ev.Before != nil {
			doc.Put("sealed_secret", ev.Before.Get("sealed_secret"))
			doc.Put("registered", ev.Before.Get("registered"))
		}
		chooseAlgorithm(doc)
	case document.Validate:
		if user := doc.Text("service_user"); user != "" {
			if err := h.s.checkServiceUser(ctx, ev.Tx, user); err != nil {
				return err
			}
		}
		return checkClient(doc)
	case document.BeforeRename:
		return fault.Invalid("", "A client's id does not change")
	case document.OnUpdate:
		if err := h.s.recordChange(ctx, ev); err != nil {
			return err
		}
		return h.s.c.Auth.Changed(ctx, ev.Tx)
	case document.AfterDelete:
		if err := h.s.recordChange(ctx, ev); err != nil {
			return err
		}
		if _, err := h.s.store.EndAll(ctx, ev.Tx, "client", doc.Name()); err != nil {
			return err
		}
		return h.s.c.Auth.Changed(ctx, ev.Tx)
	}
	return nil
}

// chooseAlgorithm fills in how ID tokens are signed: with the secret (SPEC), or with
// a key of the site for a public client, which keeps no secret, and for one that
// registered itself, whose library expects the default of OpenID Connect Dynamic
// Registration section 2.
func chooseAlgorithm(doc *doctype.Document) {
	if doc.Text("id_token_signed_response_alg") != "" {
		return
	}
	doc.Put("id_token_signed_response_alg", hs256)
	if doc.Bool("registered") || doc.Text("token_endpoint_auth_method") == methodNone {
		doc.Put("id_token_signed_response_alg", rs256)
	}
}

// Reveal are hooks that run after all others, those of plugins too: they show the
// secret of a new client in the answer to whoever made it, and nowhere else.
func (s *Service) Reveal() document.Hooks { return reveal{s} }

type reveal struct{ s *Service }

func (reveal) Handles(typeName string) bool { return typeName == clientName }
func (reveal) RunsPlugins(string) bool      { return false }

func (h reveal) Run(_ context.Context, ev *document.Event) error {
	if ev.Name != document.OnChange || ev.Before != nil {
		return nil
	}
	secret, err := h.s.unseal(ev.Doc)
	if err != nil {
		return err
	}
	ev.Doc.Put("client_secret", secret) // the row is written already
	return nil
}

// checkClient refuses what an administrator cannot have meant.
func checkClient(doc *doctype.Document) error {
	uris := strings.Fields(doc.Text("redirect_uris"))
	fallback := strings.TrimSpace(doc.Text("default_redirect_uri"))
	if fallback != "" {
		uris = append(uris, fallback)
	}
	if len(uris) == 0 && doc.Text("service_user") == "" && !doc.Bool("device_flow") {
		return fault.Invalid("MandatoryError", "A client needs a redirect URI")
	}
	if doc.Text("service_user") != "" && doc.Text("token_endpoint_auth_method") == methodNone {
		return fault.Invalid("", "A client that acts by itself shows its secret; Token Endpoint Auth Method is not None")
	}
	logouts := strings.Fields(doc.Text("post_logout_redirect_uris"))
	doc.Put("post_logout_redirect_uris", strings.Join(logouts, " "))
	for _, uri := range append(logouts, uris...) {
		if reason := badRedirect(uri); reason != "" {
			return fault.Invalid("", "Redirect URI %s: %s", uri, reason)
		}
	}
	doc.Put("redirect_uris", strings.Join(strings.Fields(doc.Text("redirect_uris")), " "))
	doc.Put("default_redirect_uri", fallback)
	scopes := scopeSet(doc.Text("scopes"))
	for _, scope := range scopes {
		if !wellFormed(scope) {
			return fault.Invalid("", "%s is not a scope", scope)
		}
	}
	doc.Put("scopes", strings.Join(scopes, " "))
	if (doc.Text("grant_type") == "Implicit") != (doc.Text("response_type") == "Token") {
		return fault.Invalid("", "Response Type %s does not go with Grant Type %s", doc.Text("response_type"), doc.Text("grant_type"))
	}
	return nil
}
