package oauth

import (
	"context"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/oauth/oauthstore"
)

const settingsName = "OAuth Settings"

// settings is the Single OAuth Settings.
type settings struct {
	oauthstore.Lifetimes
	showServer        bool
	showResource      bool
	register          bool
	addresses         bool  // clients may be known by the address of their metadata
	perHour           int64 // registrations from one address; 0: no limit
	skip              bool
	openIntrospection bool      // without credentials
	resource          [4]string // name, documentation, policy, terms
	scopes            []string
	origins           []string
}

func (s *Service) lifetimes(ctx context.Context) (oauthstore.Lifetimes, error) {
	set, err := s.settings(ctx)
	if err != nil {
		return oauthstore.Lifetimes{}, err
	}
	return set.Lifetimes, nil
}

// settings reads the settings, which are kept until they change.
func (s *Service) settings(ctx context.Context) (*settings, error) {
	v, err := s.c.Auth.Remember(ctx, "oauth settings", func(ctx context.Context) (any, error) {
		var doc *doctype.Document
		err := s.c.Store.Read(ctx, func(tx document.Tx) (err error) {
			doc, err = s.c.Documents().As(identity.Root(), tx).Get(ctx, settingsName, settingsName)
			return err
		})
		if err != nil {
			return nil, err
		}
		return newSettings(doc), nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*settings), nil
}

func newSettings(doc *doctype.Document) *settings {
	seconds := func(field string) time.Duration { return time.Duration(doc.Int(field)) * time.Second }
	set := &settings{
		Lifetimes: oauthstore.Lifetimes{
			Code: seconds("authorization_code_lifetime"), Access: seconds("access_token_lifetime"),
			Refresh: seconds("refresh_token_lifetime"), Grace: seconds("refresh_token_grace"),
		},
		showServer: doc.Bool("show_auth_server_metadata"), showResource: doc.Bool("show_protected_resource_metadata"),
		register: doc.Bool("enable_dynamic_client_registration"), perHour: doc.Int("registrations_per_hour"),
		addresses: doc.Bool("enable_client_id_metadata_documents"),
		skip:      doc.Bool("skip_authorization"), openIntrospection: doc.Bool("introspection_without_credentials"),
		scopes: strings.Fields(doc.Text("scopes_supported")), origins: strings.Fields(doc.Text("allowed_public_client_origins")),
	}
	for i, field := range []string{"resource_name", "resource_documentation", "resource_policy_uri", "resource_tos_uri"} {
		set.resource[i] = strings.TrimSpace(doc.Text(field))
	}
	return set
}

// longest is the most seconds anything lives, and shortest the fewest.
const (
	shortest = 1
	longest  = 10 * 365 * 24 * 3600
)

// checkSettings refuses lifetimes that make no sense.
func checkSettings(doc *doctype.Document) error {
	for _, field := range []string{"authorization_code_lifetime", "access_token_lifetime", "refresh_token_lifetime"} {
		if n := doc.Int(field); n < shortest || n > longest {
			return fault.Invalid("", "%s is between %d and %d seconds", field, shortest, longest)
		}
	}
	// RFC 6749 section 4.1.2 recommends at most ten minutes.
	if doc.Int("authorization_code_lifetime") > 600 {
		return fault.Invalid("", "authorization_code_lifetime is at most 600 seconds")
	}
	if doc.Int("refresh_token_grace") > 600 {
		return fault.Invalid("", "refresh_token_grace is at most 600 seconds")
	}
	for _, scope := range strings.Fields(doc.Text("scopes_supported")) {
		if !wellFormed(scope) {
			return fault.Invalid("", "%s is not a scope", scope)
		}
	}
	for _, origin := range strings.Fields(doc.Text("allowed_public_client_origins")) {
		if origin != "*" && !isOrigin(origin) {
			return fault.Invalid("", "%s is not an origin, such as https://app.example.com", origin)
		}
	}
	return nil
}
