package connectedapp

import (
	"context"
	"strings"

	"golang.org/x/oauth2"

	"armature/core/doctype"
	"armature/core/fault"
)

// app is a Connected App as it is stored, with its secret open.
type app struct {
	name          string
	providerName  string
	discovery     string // address of the discovery document
	clientID      string
	clientSecret  string
	redirectURI   string
	scopes        []string
	authorization string
	token         string
	revocation    string
	query         []oauth2.AuthCodeOption // added to the authorization request
	hosts         []string                // patterns of hosts that Do may reach
}

// app reads a Connected App. Missing when there is none.
func (s *Service) app(ctx context.Context, name string) (*app, error) {
	doc, err := s.read(ctx, appName, name)
	if err != nil {
		return nil, err
	}
	secret, err := s.open(purposeSecret(name), doc.Text("client_secret"))
	if err != nil {
		return nil, err
	}
	a := &app{
		name: name, providerName: doc.Text("provider_name"), discovery: doc.Text("openid_configuration"),
		clientID: doc.Text("client_id"), clientSecret: secret, redirectURI: doc.Text("redirect_uri"),
		scopes:        texts(doc.Rows("scopes"), "scope"),
		authorization: doc.Text("authorization_uri"), token: doc.Text("token_uri"), revocation: doc.Text("revocation_uri"),
		hosts: strings.Fields(doc.Text("allowed_hosts")),
	}
	for _, row := range doc.Rows("query_parameters") {
		a.query = append(a.query, oauth2.SetAuthURLParam(row.Text("key"), row.Text("value")))
	}
	return a, nil
}

// config is what the OAuth library needs to speak for an app.
func (a *app) config(p *provider) (*oauth2.Config, error) {
	switch {
	case a.clientID == "":
		return nil, fault.Invalid("", "%s has no Client ID yet", a.providerName)
	case p.token == "":
		return nil, fault.Invalid("", "%s has neither a Token URI nor an OpenID Configuration that names one", a.providerName)
	}
	return &oauth2.Config{
		ClientID: a.clientID, ClientSecret: a.clientSecret, RedirectURL: a.redirectURI, Scopes: a.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: p.authorization, TokenURL: p.token, AuthStyle: p.style},
	}, nil
}

// texts is one field of every row that has it.
func texts(rows []*doctype.Document, field string) []string {
	var out []string
	for _, row := range rows {
		if text := row.Text(field); text != "" {
			out = append(out, text)
		}
	}
	return out
}
