package armature

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"armature/sdk/go/internal/raw"
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
	return fetch(raw.HTTPFetch, appendString(request(`{"url":`), r.URL), r)
}

// FetchConnected sends an HTTP request with the token that a Connected App holds
// for the caller; the plugin never sees the token. An error of exc_type
// NotConnectedError or ConnectionBrokenError says that the caller has to connect
// first, or anew.
func FetchConnected(app string, r HTTPRequest) (HTTPResponse, error) {
	b := appendString(request(`{"app":`), app)
	return fetch(raw.ConnectedRequest, member(b, "url", r.URL), r)
}

// FetchAsApp is FetchConnected with the app's own token, which belongs to no
// user.
func FetchAsApp(app string, r HTTPRequest) (HTTPResponse, error) {
	b := member(appendString(request(`{"app":`), app), "as", "app")
	return fetch(raw.ConnectedRequest, member(b, "url", r.URL), r)
}

func fetch(call capability, b []byte, r HTTPRequest) (HTTPResponse, error) {
	if r.Method != "" {
		b = member(b, "method", r.Method)
	}
	b = headersMember(b, r.Headers)
	b = bodyMember(b, r.Body)
	if r.TimeoutMS != 0 {
		b = strconv.AppendInt(append(b, `,"timeout_ms":`...), int64(r.TimeoutMS), 10)
	}
	var d Doc
	if err := finish(call, b, &d); err != nil {
		return HTTPResponse{}, err
	}
	body, err := bodyOf(d)
	return HTTPResponse{int(d.Int("status")), headersOf(d), body}, err
}

// IncomingRequest is the HTTP request that called the method.
type IncomingRequest struct {
	Method, Path, Query string
	Headers             map[string]string // names in lower case; no credentials
	Body                []byte
}

// Request returns the HTTP request that called the method. KindNotFound: the
// call did not come by HTTP.
func Request() (IncomingRequest, error) {
	var d Doc
	if err := finish(raw.RequestGet, request(`{`), &d); err != nil {
		return IncomingRequest{}, err
	}
	body, err := bodyOf(d)
	return IncomingRequest{d.String("method"), d.String("path"), d.String("query"), headersOf(d), body}, err
}

// Respond answers the HTTP request with body as it is, instead of the method's
// result. Only some headers are allowed.
func Respond(status int, headers map[string]string, body []byte) error {
	b := strconv.AppendInt(request(`{"status":`), int64(status), 10)
	return finish(raw.Respond, bodyMember(headersMember(b, headers), body), nil)
}

func headersMember(b []byte, headers map[string]string) []byte {
	if len(headers) == 0 {
		return b
	}
	b = append(b, `,"headers":{`...)
	first := true
	for name, value := range headers {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendString(append(appendString(b, name), ':'), value)
	}
	return append(b, '}')
}

// bodyMember sends text as text: only other bytes pay for base64.
func bodyMember(b, body []byte) []byte {
	if len(body) == 0 {
		return b
	}
	if utf8.Valid(body) {
		return member(b, "body", string(body))
	}
	return member(b, "body_base64", base64.StdEncoding.EncodeToString(body))
}

func bodyOf(d Doc) ([]byte, error) {
	if text := d.String("body_base64"); text != "" {
		return base64.StdEncoding.DecodeString(text)
	}
	return []byte(d.String("body")), nil
}

func headersOf(d Doc) map[string]string {
	fields, _ := d["headers"].(map[string]any)
	headers := make(map[string]string, len(fields))
	for name, value := range fields {
		headers[name], _ = value.(string)
	}
	return headers
}
