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
	UserCode string // that a device has to show; empty: the application is none
	Action   string
	Hidden   [][2]string
}

// Consent asks the user whether an application may act for them (oauth.Pages).
func (p *Pages) Consent(w http.ResponseWriter, _ *http.Request, c oauth.Consent) error {
	v := consentView{
		Client: plain(c.Client), Name: plain(c.Name), FullName: plain(c.FullName), User: c.User,
		Switch: SwitchUser(c.Request), Scopes: scopesInWords(essential(c.Scopes)), Target: targetOf(c.RedirectURI),
		Itself: c.Itself, All: slices.Contains(c.Scopes, "all"), Policy: pageAddress(c.Policy), Terms: pageAddress(c.Terms),
		Action: c.Action, Hidden: c.Hidden, Host: whole(c.Host), UserCode: c.UserCode,
	}
	if c.UserCode != "" {
		v.Target = target{}
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

// Logout asks the user whether to be logged out (oauth.Pages).
func (p *Pages) Logout(w http.ResponseWriter, _ *http.Request, l oauth.Logout) error {
	l.Name, l.FullName = plain(l.Name), plain(l.FullName)
	if l.FullName == "" {
		l.FullName = l.User
	}
	return p.show(w, http.StatusOK, "logout", view{Title: "Log out", Body: l})
}

// EndSession ends the session that a request acts by (oauth.Pages).
func (p *Pages) EndSession(w http.ResponseWriter, r *http.Request) error { return p.endSession(w, r) }

// Device asks for the code that a device shows (oauth.Pages).
func (p *Pages) Device(w http.ResponseWriter, _ *http.Request, d oauth.Device) error {
	status := http.StatusOK
	if d.Error != "" {
		status = http.StatusBadRequest
	}
	d.Code = plain(d.Code)
	return p.show(w, status, "device", view{Title: "Connect a device", Body: d})
}

// Told says how it ended, where the user goes back to a device (oauth.Pages).
func (p *Pages) Told(w http.ResponseWriter, _ *http.Request, allowed bool) error {
	v := errorView{Heading: "The device may use your account", Text: []string{"You can go back to it now. It will go on by itself in a few seconds."}}
	if !allowed {
		v = errorView{Heading: "Nothing was allowed", Text: []string{"The device may not use your account."}}
	}
	v.Link, v.LinkText = appsPath, "See which applications may"
	return p.show(w, http.StatusOK, "error", view{Title: v.Heading, Body: v})
}
