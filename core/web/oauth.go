package web

import (
	"net/http"
	"slices"

	"armature/core/oauth"
)

// Pages shows what the OAuth provider has to say.
var _ oauth.Pages = (*Pages)(nil)

// consentView is what the consent page shows.
type consentView struct {
	Client   string
	Host     string // that vouches for the client; empty: none does
	Domain   string // whose the client is, as far as anybody can tell; empty: of this device
	Name     string
	FullName string
	User     string
	Switch   string
	Itself   bool
	All      bool // it may do everything
	Policy   string
	Terms    string
	Scopes   []scope
	Target   target
	Action   string
	Hidden   [][2]string
}

// Consent asks the user whether an application may act for them (oauth.Pages).
func (p *Pages) Consent(w http.ResponseWriter, _ *http.Request, c oauth.Consent) error {
	v := consentView{
		Client: plain(c.Client), Name: plain(c.Name), FullName: plain(c.FullName), User: c.User,
		Switch: SwitchUser(c.Request), Scopes: scopesInWords(essential(c.Scopes)), Target: targetOf(c.RedirectURI),
		Itself: c.Itself, All: slices.Contains(c.Scopes, "all"), Policy: pageAddress(c.Policy), Terms: pageAddress(c.Terms),
		Action: c.Action, Hidden: c.Hidden, Host: whole(c.Host),
	}
	if v.Domain = v.Target.Domain; c.Host != "" {
		v.Domain = domainOf(c.Host)
	}
	if v.Name == "" {
		v.Name = "An application without a name"
	}
	if v.FullName == "" {
		v.FullName = c.User
	}
	return p.show(w, http.StatusOK, "consent", view{Title: "Let an application in", Body: v})
}

// OAuthError says why a request for authorization goes no further (oauth.Pages).
// The address of the application is not offered as a link: it is what could not
// be trusted.
func (p *Pages) OAuthError(w http.ResponseWriter, _ *http.Request, e oauth.PageError) error {
	v := errorView{
		Heading: "The application could not be let in",
		Text: []string{
			e.Description,
			"Nothing was allowed. Go back to the application and try again. If it happens again, tell those who made it what is written here.",
		},
		Small: "Error: " + plain(e.Code),
	}
	return p.show(w, e.Status, "error", view{Title: titled("Authorization", e.Code), Body: v})
}
