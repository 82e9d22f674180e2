package social

import (
	"context"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// Kinds of providers, as a key names them.
const (
	openIDConnect = "OpenID Connect"
	google        = "Google"
	gitHub        = "GitHub"
	microsoft     = "Microsoft"
)

// Whom a key makes users of.
const (
	nobody         = "Nobody"
	allowedDomains = "Allowed Domains"
	everybody      = "Everybody"
)

// key is a Social Login Key as it is stored, with its secret open.
type key struct {
	name   string
	kind   string
	issuer string // of its discovery document; empty: the provider has none
	base   string // of a provider without one
	tenant string // of Microsoft's

	clientID     string
	clientSecret string
	scopes       []string
	redirectURI  string

	signUps string
	domains []string // of new users
	trusted []string // whose addresses the provider vouches for

	rolesClaim string
	roles      []mapped
	factor     []string // claims that show a second factor, as amr:VALUE and acr:VALUE
	author     string   // who has written the rules
}

// mapped is a role for whoever has a value in the claim.
type mapped struct{ value, role string }

// anyValue stands for everybody who comes by a key.
const anyValue = "*"

// Button is a key on the login page.
type Button struct {
	Name  string // of the key
	Title string // of the provider
}

// Buttons are the keys that people may log in with, by name.
func (s *Service) Buttons(ctx context.Context) (list []Button, err error) {
	v, err := s.c.Auth.Remember(ctx, "social buttons", func(ctx context.Context) (any, error) { return s.readButtons(ctx) })
	if err != nil {
		return nil, err
	}
	return v.([]Button), nil
}

func (s *Service) readButtons(ctx context.Context) ([]Button, error) {
	list := []Button{}
	dt, err := s.c.Catalog.Schema().Platform(DocType)
	if err != nil {
		return list, nil // the site has a DocType of its own of the name
	}
	name := doctype.Operand{Field: dt.Field("name")}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		list = list[:0]
		return tx.Rows(ctx, &doctype.Select{
			DocType: dt, Columns: []doctype.Column{{Operand: name, Key: "name"}},
			Where: equals(dt, "enable_social_login", int64(1)), Order: []doctype.OrderBy{{Operand: name}}, Length: maxKeys,
		}, func(v []any) error {
			text, _ := v[0].(string)
			list = append(list, Button{Name: text, Title: text})
			return nil
		})
	})
	return list, err
}

// maxKeys bounds how many buttons the login page has.
const maxKeys = 20

// key reads a key that is switched on. Errors: Missing for any other.
func (s *Service) key(ctx context.Context, name string) (*key, error) {
	missing := fault.Missing("There is no such way to log in here")
	dt, err := s.c.Catalog.Schema().Platform(DocType)
	if err != nil || name == "" || len(name) > maxData {
		return nil, missing
	}
	doc, err := s.read(ctx, dt, name)
	if fault.KindOf(err) == fault.NotFound || err == nil && (doc.Name() != name || !doc.Bool("enable_social_login")) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	return s.newKey(doc)
}

const maxData = 140

func (s *Service) newKey(doc *doctype.Document) (*key, error) {
	secret, err := s.open(purposeSecret(doc.Name()), doc.Text("client_secret"))
	if err != nil {
		return nil, err
	}
	k := &key{
		name: doc.Name(), kind: doc.Text("social_login_provider"), tenant: strings.TrimSpace(doc.Text("tenant")),
		clientID: doc.Text("client_id"), clientSecret: secret, redirectURI: doc.Text("redirect_uri"),
		signUps: doc.Text("sign_ups"), domains: words(doc.Text("allowed_domains")), trusted: words(doc.Text("trusted_domains")),
		rolesClaim: strings.TrimSpace(doc.Text("roles_claim")), factor: strings.Fields(doc.Text("second_factor")), author: doc.Text("rules_author"),
	}
	for _, row := range doc.Rows("roles") {
		k.roles = append(k.roles, mapped{row.Text("claim_value"), row.Text("role")})
	}
	k.place(strings.TrimSpace(doc.Text("openid_configuration")), strings.TrimRight(strings.TrimSpace(doc.Text("base_url")), "/"))
	if k.scopes = strings.Fields(doc.Text("scopes")); len(k.scopes) == 0 {
		k.scopes = []string{"openid", "email", "profile"}
		if k.kind == gitHub {
			k.scopes = []string{"read:user", "user:email"}
		}
	}
	if k.kind != gitHub && !slices.Contains(k.scopes, "openid") {
		k.scopes = append([]string{"openid"}, k.scopes...)
	}
	return k, nil
}

// words are the domains of a list, in small letters.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

// of reports whether an address is of one of the domains. A domain does not take in those
// below it.
func of(domains []string, address string) bool {
	_, domain, ok := cutLast(address, "@")
	return ok && slices.Contains(domains, strings.ToLower(domain))
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
