// Package endpoint has libraries reach the endpoints of another server through core/egress.
//
// An endpoint is an address that somebody has typed or another server has said: https
// only, unless the site allows its host by name, on no private network but that, with a
// bounded answer.
package endpoint

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
	// Patience is how long a server has for one answer.
	Patience = 10 * time.Second
	// maxAnswer is how many bytes an answer may have.
	maxAnswer = 1 << 20
)

// Way is how a site reaches endpoints.
type Way struct {
	Egress *egress.Client
	// Setting is a key of the site's configuration as of now, nil when it is not set.
	// allowed_private_hosts is read here.
	Setting func(key string) json.RawMessage
	// Outgoing is asked before anything is sent: its error is the answer.
	Outgoing func() error
}

// Client makes what reaches endpoints, each request the host of its own address and no
// other. Redirects are followed on that host, if at all. Errors of its requests are
// faults: Validation for an address that is none, Permission for one that may not be
// reached, Unavailable, Timeout.
func (w Way) Client(redirects bool) *http.Client {
	return &http.Client{
		Transport:     transport{w, redirects},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // egress follows them
	}
}

// Check refuses the address of an endpoint that the site would not reach. Errors:
// Validation, Permission.
func (w Way) Check(address string) error {
	private, err := w.Private()
	if err != nil {
		return err
	}
	_, err = allowed(address, private)
	return err
}

// transport makes the requests of a library. It follows a redirect only where nothing is
// told that is for the endpoint alone.
type transport struct {
	way       Way
	redirects bool
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	policy, err := t.way.policy(r.URL.String(), t.redirects)
	if err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it is in memory
	}
	answer, err := t.way.Egress.Do(r.Context(), policy, egress.Request{
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

// policy is what a request to an address may do.
func (w Way) policy(address string, redirects bool) (p egress.Policy, err error) {
	if err := w.Outgoing(); err != nil {
		return p, err
	}
	private, err := w.Private()
	if err != nil {
		return p, err
	}
	u, err := allowed(address, private)
	if err != nil {
		return p, err
	}
	hosts, err := egress.ParseHosts(u.Host)
	if err != nil {
		return p, err
	}
	p = egress.Policy{Allowed: hosts, Private: private, MaxBody: maxAnswer, Timeout: Patience}
	if redirects {
		p.MaxRedirects = egress.DefaultMaxRedirects
	}
	return p, nil
}

// allowed checks an address.
func allowed(address string, private egress.Hosts) (*url.URL, error) {
	if err := egress.CheckURL(address); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.Invalid("", "This is no valid URL")
	}
	if !strings.EqualFold(u.Scheme, "https") && !private.Allows(address) {
		return nil, fault.Denied("%s is not https, and its host is not among the site's allowed_private_hosts", u.Host)
	}
	return u, nil
}

// Private are the hosts which the site allows on its own network.
func (w Way) Private() (egress.Hosts, error) {
	var names []string
	if text := w.Setting("allowed_private_hosts"); text != nil {
		if err := json.Unmarshal(text, &names); err != nil {
			return egress.Hosts{}, fault.Wrap(fault.Internal, "", err, "The site's setting allowed_private_hosts is no list of hosts")
		}
	}
	return egress.ParseHosts(names...)
}

// Failure is what became of asking another server: egress has said it in words that may
// be shown, or the answer is of no use, which the text says (Unavailable).
func Failure(err error, format string, args ...any) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Wrap(fault.Unavailable, "", err, format, args...)
}

// Quoted is an error of another server in its own words, which are somebody else's: short,
// and without anything that a terminal or a page would act on.
func Quoted(code, description string) string {
	text := clean(code, 60)
	if description != "" {
		text += " (" + clean(description, 200) + ")"
	}
	return text
}

func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '<' || r == '>' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}
