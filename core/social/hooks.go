package social

import (
	"context"
	"net/url"
	"strings"
	"unicode"

	"armature/core/access"
	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
)

// Sealed are the fields that hold secrets sealed for purposes of this package, by DocType
// and field: the purpose of the one in the document of a name.
func Sealed() map[[2]string]func(name string) string {
	return map[[2]string]func(string) string{{DocType, "client_secret"}: purposeSecret}
}

// purposeSecret ties a sealed client secret to its key.
func purposeSecret(key string) string { return "social login key " + key + " client secret" }

// Hooks is the life of keys, and of users, whose ties go with them.
func (s *Service) Hooks() document.Hooks { return hooks{s} }

type hooks struct{ s *Service }

func (hooks) Handles(typeName string) bool { return typeName == DocType || typeName == "User" }

func (hooks) RunsPlugins(string) bool { return false }

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	switch {
	case ev.Doc.Type.Name == DocType && ev.Name == document.BeforeValidate:
		return h.check(ctx, ev)
	case ev.Doc.Type.Name == DocType && (ev.Name == document.OnUpdate || ev.Name == document.AfterDelete):
		if err := h.record(ctx, ev); err != nil {
			return err
		}
		return h.s.c.Auth.Changed(ctx, ev.Tx) // the login page is put together anew
	case ev.Doc.Type.Name == DocType && ev.Name == document.OnTrash:
		return h.endAll(ctx, ev)
	case ev.Doc.Type.Name == "User" && ev.Name == document.OnTrash:
		return h.forget(ctx, ev)
	}
	return nil
}

// check completes a key that is about to be stored.
func (h hooks) check(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	if name := doc.Name(); name != strings.TrimSpace(name) || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-", r)
	}) {
		return fault.Invalid("", "Provider Name has letters, digits, spaces, dots and dashes: it stands on the button and in the redirect URI")
	}
	if err := checkPlace(doc); err != nil {
		return err
	}
	if err := h.checkRules(ctx, ev); err != nil {
		return err
	}
	base := h.s.c.URL()
	if base == "" {
		base = document.Origin(ctx)
	}
	if base != "" {
		doc.Put("redirect_uri", base+CallbackPath+url.PathEscape(doc.Name()))
	} else if ev.Before != nil {
		doc.Put("redirect_uri", ev.Before.Get("redirect_uri"))
	}
	return h.reseal(doc, ev.Before)
}

// checkPlace looks whether it is said where the provider is.
func checkPlace(doc *doctype.Document) error {
	for _, field := range []string{"openid_configuration", "base_url"} {
		text := strings.TrimSpace(doc.Text(field))
		if text == "" {
			continue
		}
		if err := egress.CheckURL(text); err != nil {
			return fault.Invalid("", "%s: %s", doc.Type.Field(field).Label, fault.From(err).Message)
		}
		doc.Put(field, text)
	}
	switch doc.Text("social_login_provider") {
	case microsoft:
		if tenant := doc.Text("tenant"); tenant == "" || strings.Trim(strings.ToLower(tenant), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
			return fault.Invalid("", "Tenant is the id or a domain of your organization's directory, or one of common, organizations and consumers")
		}
	case google, gitHub:
	default:
		if !strings.HasSuffix(doc.Text("openid_configuration"), wellKnown) {
			return fault.Invalid("", "OpenID Configuration is the address of the provider's document and ends in %s", wellKnown)
		}
	}
	return nil
}

// checkRules looks whether the rules can be kept, and notes who has written them: they give
// no role that their author may not.
func (h hooks) checkRules(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	if doc.Text("sign_ups") == allowedDomains && len(words(doc.Text("allowed_domains"))) == 0 {
		return fault.Invalid("", "Allowed Domains are missing, of which everybody with an address is made a user")
	}
	for _, field := range []string{"allowed_domains", "trusted_domains"} {
		for _, one := range words(doc.Text(field)) {
			if !strings.Contains(one, ".") || strings.ContainsAny(one, "@*/:") {
				return fault.Invalid("", "%q is no domain, such as example.com", one)
			}
		}
	}
	for _, rule := range strings.Fields(doc.Text("second_factor")) {
		if kind, value, _ := strings.Cut(rule, ":"); value == "" || kind != "amr" && kind != "acr" {
			return fault.Invalid("", "Second Factor is a list of claims that show one, such as amr:mfa and acr:urn:example:two")
		}
	}
	rows := doc.Rows("roles")
	for _, row := range rows {
		if auth.Automatic(row.Text("role")) {
			return fault.Invalid("", "The role %s is given to nobody", row.Text("role"))
		}
		if row.Text("claim_value") != anyValue && strings.TrimSpace(doc.Text("roles_claim")) == "" {
			return fault.Invalid("", "Roles Claim is missing, in which the provider says %s", row.Text("claim_value"))
		}
	}
	doc.Put("rules_author", ev.Caller.User)
	if len(rows) == 0 {
		return nil
	}
	_, err := h.s.c.Documents().As(ev.Caller, ev.Tx).DemandField(ctx, "User", ev.Caller.User, "roles", access.Write)
	if fault.KindOf(err) == fault.Permission {
		return fault.Denied("Who may not give users roles may not have a provider do so")
	}
	return err
}

// reseal ties a new client secret to the key. As the data layer has sealed it,
// get_password would show it.
func (h hooks) reseal(doc, before *doctype.Document) error {
	sealed := doc.Text("client_secret")
	if sealed == "" || before != nil && sealed == before.Text("client_secret") {
		return nil
	}
	text, err := h.s.c.Secret.Open(document.SealPurpose(DocType, "client_secret"), sealed)
	if err != nil {
		return err
	}
	doc.Put("client_secret", h.s.c.Secret.Seal(purposeSecret(doc.Name()), text))
	return nil
}

// record writes into the Activity Log that there is another way in.
func (h hooks) record(ctx context.Context, ev *document.Event) error {
	done := "changed"
	switch {
	case ev.Name == document.AfterDelete:
		done = "deleted"
	case ev.Before == nil:
		done = "made"
	}
	return h.s.c.Auth.Record(ctx, ev.Tx, auth.Activity{
		Operation: activity, User: ev.Caller.User, Subject: "Social Login Key " + ev.Doc.Name() + " was " + done,
	}.Did(ev.Caller))
}

// endAll ends the ties of a key that is deleted, with the roles that they gave.
func (h hooks) endAll(ctx context.Context, ev *document.Event) error {
	dt := tables().ties
	names, err := h.s.names(ctx, ev.Tx, dt, equals(dt, "provider", ev.Doc.Name()), 0)
	if err != nil {
		return err
	}
	for _, name := range names {
		row, err := h.s.row(ctx, ev.Tx, name)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		user := row.Text("user")
		act := auth.Activity{Operation: activity, User: user, Subject: "An account of " + ev.Doc.Name() + " lets " + user + " in no more"}
		if err := h.s.drop(ctx, ev.Tx, row, act.Did(ev.Caller)); err != nil {
			return err
		}
	}
	return nil
}

// forget has the ties of a user go with them.
func (h hooks) forget(ctx context.Context, ev *document.Event) error {
	dt := tables().ties
	names, err := h.s.names(ctx, ev.Tx, dt, equals(dt, "user", ev.Doc.Name()), 0)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := ev.Tx.Delete(ctx, h.s.c.Catalog.Schema(), dt, name); err != nil {
			return err
		}
	}
	return nil
}
