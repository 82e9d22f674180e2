package connectedapp

import (
	"context"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/query"
	"armature/core/site"
)

// callbackPath is where a provider sends a user back to, before the app's name.
const callbackPath = "/api/method/framework.integrations.doctype.connected_app.connected_app.callback/"

// ours are the parameters of an authorization request that decide what it is.
var ours = []string{
	"client_id", "response_type", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "response_mode",
	"request", "request_uri",
}

// Sealed are the fields that hold secrets sealed for purposes of this package, by
// DocType and field: the purpose of the one in the document of a name.
func Sealed() map[[2]string]func(name string) string {
	token := func(field string) func(string) string {
		return func(name string) string { return purposeToken(name, field) }
	}
	return map[[2]string]func(string) string{
		{appName, "client_secret"}:   purposeSecret,
		{cacheName, "access_token"}:  token("access_token"),
		{cacheName, "refresh_token"}: token("refresh_token"),
		{cacheName, "code_verifier"}: token("code_verifier"),
	}
}

// purposeSecret ties a sealed client secret to its app.
func purposeSecret(app string) string { return "connected app " + app + " client secret" }

// Hooks is the life of Connected App and Token Cache. base is the site's
// configured address, empty where there is none; then the redirect URI is the
// one of the address under which the document is saved.
func Hooks(catalog *doctype.Catalog, secret *site.Secret, base func() string) document.Hooks {
	return hooks{catalog, secret, base}
}

type hooks struct {
	catalog *doctype.Catalog
	secret  *site.Secret
	base    func() string
}

// Handles covers the package's documents, and users, whose connections go with
// them.
func (hooks) Handles(typeName string) bool {
	return typeName == appName || typeName == cacheName || typeName == "User"
}

func (hooks) RunsPlugins(string) bool { return false }

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	switch ev.Doc.Type.Name {
	case appName:
		switch ev.Name {
		case document.BeforeValidate:
			return h.check(ctx, ev)
		case document.OnTrash:
			return h.endAll(ctx, ev, "connected_app")
		}
	case cacheName:
		if ev.Name == document.BeforeValidate {
			return fault.Denied("Connections are made by connecting to a provider")
		}
	case "User":
		if ev.Name == document.OnTrash {
			return h.endAll(ctx, ev, "user")
		}
	}
	return nil
}

// check completes an app that is about to be stored.
func (h hooks) check(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	if strings.Contains(doc.Name(), "-") {
		return fault.Invalid("", "The name of a Connected App has no dash: connections are named by it, a dash and the user")
	}
	for _, field := range []string{"openid_configuration", "authorization_uri", "token_uri", "revocation_uri", "userinfo_uri", "introspection_uri"} {
		text := strings.TrimSpace(doc.Text(field))
		if text == "" {
			continue
		}
		if err := egress.CheckURL(text); err != nil {
			return fault.Invalid("", "%s: %s", doc.Type.Field(field).Label, fault.From(err).Message)
		}
		doc.Put(field, text)
	}
	if _, err := egress.ParseHosts(strings.Fields(doc.Text("allowed_hosts"))...); err != nil {
		return err
	}
	for _, row := range doc.Rows("query_parameters") {
		if slices.Contains(ours, strings.ToLower(row.Text("key"))) {
			return fault.Invalid("", "Query Parameters cannot set %s, which is part of the request itself", row.Text("key"))
		}
	}
	base := h.base()
	if base == "" {
		base = document.Origin(ctx)
	}
	if base != "" {
		doc.Put("redirect_uri", base+callbackPath+doc.Name())
	} else if ev.Before != nil {
		doc.Put("redirect_uri", ev.Before.Get("redirect_uri"))
	}
	return h.reseal(doc, ev.Before)
}

// reseal ties a new client secret to the app. As the data layer has sealed it,
// get_password would show it.
func (h hooks) reseal(doc, before *doctype.Document) error {
	sealed := doc.Text("client_secret")
	if sealed == "" || before != nil && sealed == before.Text("client_secret") {
		return nil
	}
	text, err := h.secret.Open(document.SealPurpose(appName, "client_secret"), sealed)
	if err != nil {
		return err
	}
	doc.Put("client_secret", h.secret.Seal(purposeSecret(doc.Name()), text))
	return nil
}

// endAll forgets the connections that go with a document.
func (h hooks) endAll(ctx context.Context, ev *document.Event, field string) error {
	dt, err := h.catalog.Schema().Platform(cacheName)
	if err != nil {
		return nil // no connection was ever made
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("name")}, Key: "name"}},
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field(field)}, Op: query.Eq, Value: ev.Doc.Name()},
		Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("name")}}},
	}
	var names []string
	err = ev.Tx.Rows(ctx, sel, func(v []any) error {
		name, _ := v[0].(string)
		names = append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := ev.Tx.Delete(ctx, h.catalog.Schema(), dt, name); err != nil {
			return err
		}
	}
	return nil
}
