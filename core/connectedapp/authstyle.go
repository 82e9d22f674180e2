package connectedapp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
)

// tokenClient makes what reaches a provider's token endpoint.
func (s *Service) tokenClient(p *provider) (*http.Client, error) {
	if err := s.way.Check(p.token); err != nil {
		return nil, err
	}
	client := s.way.Client(false) // what a token endpoint is told is for it alone
	if p.style == oauth2.AuthStyleAutoDetect {
		client.Transport = &probing{way: client.Transport}
	}
	return client, nil
}

// probing is the way to a token endpoint of which nobody has said how clients
// prove who they are. The library tries Basic and, whatever it hears, sends the
// same again with the secret in the form: a refresh token that was just spent, or
// one that the provider refuses, and then it reports the second refusal. Here the
// first answer stands, and nothing is sent again, unless it is about the client.
// It serves one exchange.
type probing struct {
	way   http.RoundTripper
	final func() (*http.Response, error) // the answer that stands; nil: there is none yet
}

func (p *probing) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.final != nil {
		return p.final()
	}
	res, err := p.way.RoundTrip(r)
	if err != nil {
		p.final = func() (*http.Response, error) { return nil, err }
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	again := func() (*http.Response, error) {
		copied := *res
		copied.Body = io.NopCloser(bytes.NewReader(body))
		return &copied, nil
	}
	if !aboutClient(res.StatusCode, body) {
		p.final = again
	}
	return again()
}

// aboutClient reports whether an answer of a token endpoint may mean that it has
// not understood who asks: any refusal of a request but that of its code or token.
// Some refuse with status 200, some in a form.
func aboutClient(status int, body []byte) bool {
	if status == http.StatusTooManyRequests || status >= 300 && status < 400 || status >= 500 {
		return false
	}
	var refusal struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &refusal) != nil {
		values, _ := url.ParseQuery(string(body)) // what of it can be read
		refusal.Error = values.Get("error")
	}
	if refusal.Error == "" {
		return status >= 400
	}
	return refusal.Error != "invalid_grant"
}
