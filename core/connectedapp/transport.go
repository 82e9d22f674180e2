package connectedapp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"armature/core/egress"
	"armature/core/fault"
)

const (
	// patience is how long a provider has for one answer.
	patience = 10 * time.Second
	// maxAnswer is how many bytes a provider's answer may have.
	maxAnswer = 1 << 20
)

// transport makes the requests of the OAuth libraries through egress. It follows
// no redirect: what a token endpoint is told is for it alone.
type transport struct {
	client *egress.Client
	policy egress.Policy
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it is in memory
	}
	answer, err := t.client.Do(r.Context(), t.policy, egress.Request{
		Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: body,
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: answer.Status, Status: fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: answer.Header, Request: r,
		Body: io.NopCloser(bytes.NewReader(answer.Body)), ContentLength: int64(len(answer.Body)),
	}, nil
}

// client makes what reaches one endpoint of a provider, and no other host.
// Endpoints are what somebody has typed or another server has said: https only,
// unless the site allows the host by name.
func (s *Service) client(endpoint string, redirects bool) (*http.Client, error) {
	if err := s.outgoing(); err != nil {
		return nil, err
	}
	private, err := s.private()
	if err != nil {
		return nil, err
	}
	u, err := s.allowed(endpoint, private)
	if err != nil {
		return nil, err
	}
	hosts, err := egress.ParseHosts(u.Host)
	if err != nil {
		return nil, err
	}
	policy := egress.Policy{Allowed: hosts, Private: private, MaxBody: maxAnswer, Timeout: patience}
	if redirects {
		policy.MaxRedirects = egress.DefaultMaxRedirects
	}
	return &http.Client{
		Transport:     transport{s.egress, policy},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// allowed checks the address of an endpoint.
func (s *Service) allowed(endpoint string, private egress.Hosts) (*url.URL, error) {
	if err := egress.CheckURL(endpoint); err != nil {
		return nil, err
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, fault.Invalid("", "This is no valid URL")
	}
	if !strings.EqualFold(u.Scheme, "https") && !private.Allows(endpoint) {
		return nil, fault.Denied("%s is not https, and its host is not among the site's allowed_private_hosts", u.Host)
	}
	return u, nil
}

// private are the hosts which the site allows on its own network.
func (s *Service) private() (egress.Hosts, error) {
	var names []string
	if text := s.setting("allowed_private_hosts"); text != nil {
		if err := json.Unmarshal(text, &names); err != nil {
			return egress.Hosts{}, fault.Wrap(fault.Internal, "", err, "The site's setting allowed_private_hosts is no list of hosts")
		}
	}
	return egress.ParseHosts(names...)
}

// upstream is what became of asking a provider: egress has said it in words that
// may be shown, or the provider's answer is of no use.
func upstream(err error, format string, args ...any) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Wrap(fault.Unavailable, "", err, format, args...)
}
