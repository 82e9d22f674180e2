package armature

import (
	"encoding/base64"
	"unicode/utf8"
)

// HTTPRequest is an outgoing request.
type HTTPRequest struct {
	Method    string // default GET
	URL       string // https, of a host the manifest allows
	Headers   map[string]string
	Body      []byte
	TimeoutMS int // milliseconds; 0 is the server's default
}

// HTTPResponse is what came back. A status of 400 or more is not an error.
type HTTPResponse struct {
	Status  int
	Headers map[string]string // names in lower case
	Body    []byte
}

// Fetch sends an HTTP request. It is refused once the transaction has begun
// writing.
func Fetch(r HTTPRequest) (HTTPResponse, error) {
	text, encoded := bodyText(r.Body)
	return responseOf(HTTPFetchRequest{
		Method: r.Method, URL: r.URL, Headers: r.Headers, Body: text, BodyBase64: encoded, TimeoutMs: int64(r.TimeoutMS),
	}.Ask())
}

// FetchConnected sends an HTTP request with the token that a Connected App holds
// for the caller; the plugin never sees the token. An error of exc_type
// NotConnectedError or ConnectionBrokenError says that the caller has to connect
// first, or anew.
func FetchConnected(app string, r HTTPRequest) (HTTPResponse, error) {
	return fetchConnected(app, "", r)
}

// FetchAsApp is FetchConnected with the app's own token, which belongs to no
// user.
func FetchAsApp(app string, r HTTPRequest) (HTTPResponse, error) {
	return fetchConnected(app, "app", r)
}

func fetchConnected(app, as string, r HTTPRequest) (HTTPResponse, error) {
	text, encoded := bodyText(r.Body)
	a, err := ConnectedRequestRequest{
		App: app, As: as, Method: r.Method, URL: r.URL, Headers: r.Headers, Body: text, BodyBase64: encoded, TimeoutMs: int64(r.TimeoutMS),
	}.Ask()
	return responseOf(HTTPFetchAnswer(a), err)
}

func responseOf(a HTTPFetchAnswer, err error) (HTTPResponse, error) {
	if err != nil {
		return HTTPResponse{}, err
	}
	body, err := bodyBytes(a.Body, a.BodyBase64)
	return HTTPResponse{int(a.Status), a.Headers, body}, err
}

// IncomingRequest is the HTTP request that called the method.
type IncomingRequest struct {
	Method, Path, Query string
	Headers             map[string]string // names in lower case; no credentials
	Body                []byte

	Route string // of the manifest, by which it came; empty: it came by the method's path
	Base  string // where the plugin's pages are, for links to them; it does not end in a slash
}

// Request returns the HTTP request that called the method. KindNotFound: the
// call did not come by HTTP.
func Request() (IncomingRequest, error) {
	a, err := RequestGetRequest{}.Ask()
	if err != nil {
		return IncomingRequest{}, err
	}
	body, err := bodyBytes(a.Body, a.BodyBase64)
	return IncomingRequest{a.Method, a.Path, a.Query, a.Headers, body, a.Route, a.Base}, err
}

// Respond answers the HTTP request with body as it is, instead of the method's
// result. Only some headers are allowed.
func Respond(status int, headers map[string]string, body []byte) error {
	text, encoded := bodyText(body)
	return RespondRequest{Status: int64(status), Headers: headers, Body: text, BodyBase64: encoded}.Ask()
}

// RespondPage answers the HTTP request with a page, instead of the method's result. What
// comes from people has to be escaped in it, as html/template does.
func RespondPage(html string) error { return RespondRequest{Status: 200, HTML: html}.Ask() }

// Notice is something to say to the user of the request that is no error.
type Notice struct {
	Message   string
	Title     string // may be empty
	Indicator string // blue, green, orange, red, yellow or gray; empty: blue
}

// Tell says something to the user of the request beside the answer, if the request
// succeeds.
func Tell(message string) error { return Notice{Message: message}.Tell() }

// Tell is the function Tell with a heading and a colour.
func (n Notice) Tell() error {
	return TellRequest(n).Ask()
}

// bodyText sends text as text: only other bytes pay for base64.
func bodyText(body []byte) (text, inBase64 string) {
	if utf8.Valid(body) {
		return string(body), ""
	}
	return "", base64.StdEncoding.EncodeToString(body)
}

func bodyBytes(text, inBase64 string) ([]byte, error) {
	if inBase64 != "" {
		return base64.StdEncoding.DecodeString(inBase64)
	}
	return []byte(text), nil
}
