package oauth

import "net/http"

// Pages shows what the provider has to say to a person; core/web satisfies it.
// The pages carry their own headers (no framing, no script, no cache). Errors:
// what keeps a page from being made, and then nothing was written.
type Pages interface {
	// Consent asks the user whether an application may act for them.
	Consent(w http.ResponseWriter, r *http.Request, c Consent) error
	// OAuthError says why a request for authorization goes no further, where the
	// redirect URI cannot be trusted to say it to.
	OAuthError(w http.ResponseWriter, r *http.Request, e PageError) error
	// Logout asks the user whether to be logged out, as an application wants it.
	Logout(w http.ResponseWriter, r *http.Request, l Logout) error
	// EndSession ends the session that a request acts by, and takes its cookies back.
	EndSession(w http.ResponseWriter, r *http.Request) error
	// Device asks for the code that a device shows.
	Device(w http.ResponseWriter, r *http.Request, d Device) error
	// Told says how it ended, where the user goes back to a device.
	Told(w http.ResponseWriter, r *http.Request, allowed bool) error
}

// Logout is the question whether a user wants to be logged out. The form is sent by
// POST with the field "decision", which is "logout" or "stay", and the hidden fields.
// Name comes from whoever registered the client, and is shown as text.
type Logout struct {
	Name     string // of the application that asks; empty: nobody says
	User     string // who is logged in
	FullName string
	Action   string      // path the answer is posted to
	Hidden   [][2]string // name and value of fields that come back with the answer
}

// Device is the question for the code that a device shows. The form is sent by GET
// with the field "user_code".
type Device struct {
	Action string
	Code   string // as it was typed in
	Error  string // what is wrong with it, in plain words; empty: nothing was typed in
}

// Consent is a question to a user, made for one request of one session, which
// Hidden binds it to. The form is sent by POST with the field "decision", which is
// "allow" or "deny", and the hidden fields. Client, Name, Policy, Terms,
// RedirectURI and Scopes come from whoever registered the client: they are shown as text, and cut where
// they are long.
type Consent struct {
	Client      string      // client id
	Host        string      // that vouches for the client: of the address that is its id; empty: the site made the id
	Name        string      // what the application calls itself, or where that could mislead, where it is
	Itself      bool        // it registered itself: nobody of the site has checked what it says
	Policy      string      // address of its privacy policy; may be empty
	Terms       string      // address of its terms; may be empty
	RedirectURI string      // where the answer goes: the URI that will be used; empty for a device
	UserCode    string      // that the device has to show; empty: the application is no device
	Scopes      []string    // as asked for; the page puts them in words
	User        string      // who is logged in
	FullName    string      // of the user
	Request     string      // path and query of this request, to come back to as another user
	Action      string      // path, with a query where needed, the answer is posted to
	Hidden      [][2]string // name and value of fields that come back with the answer
}

// PageError is a refusal shown to a person instead of being sent to the client.
type PageError struct {
	Status      int    // of HTTP
	Code        string // error code of RFC 6749 section 4.1.2.1, such as invalid_request
	Description string // what is wrong, in plain words; shown as text
}
