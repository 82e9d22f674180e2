package testbench

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"armature/core/egress"
	"armature/core/fault"
	"armature/core/identity"
	"armature/runtime/abi"
	"armature/runtime/hostapi"
)

// given is what a test has said, and what the network was asked for.
type given struct {
	at       *time.Time
	random   *rand.ChaCha8
	settings map[string]json.RawMessage
	answers  map[string][]httpAnswer // by URL, in the order they are used
	fetched  []httpSent
}

// httpAnswer is what a URL answers.
type httpAnswer struct {
	httpBody
	Status      int        `json:"status"`
	Failure     string     `json:"failure"`
	FailureKind fault.Kind `json:"failure_kind"`
	FailureType string     `json:"failure_type"`
}

// httpSent is a request of the plugin.
type httpSent struct {
	App    string `json:"app,omitempty"`
	Method string `json:"method"`
	URL    string `json:"url"`
	httpBody
}

type httpBody struct {
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body,omitempty"`
	BodyBase64 []byte            `json:"body_base64,omitempty"`
}

// control does what a function of abi.TestModule is for.
func (b *Bench) control(ctx context.Context, name string, request []byte) ([]byte, error) {
	var in struct {
		At    int64           `json:"at"`
		Seed  int64           `json:"seed"`
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
		URL   string          `json:"url"`
		User  string          `json:"user"`
		Roles []string        `json:"roles"`
		httpAnswer
	}
	if name == abi.TestCall {
		return b.clientCall(ctx, request)
	}
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, fault.Wrap(fault.BadRequest, "", err, "%s: %v", name, err)
	}
	switch name {
	case abi.TestSite:
		return null, b.Begin(ctx)
	case abi.TestActAs:
		return null, b.actAs(ctx, in.User, in.Roles)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch g := &b.given; name {
	case abi.TestClock:
		at := time.UnixMicro(in.At).UTC()
		g.at = &at
	case abi.TestSeed:
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], uint64(in.Seed))
		g.random = rand.NewChaCha8(seed)
	case abi.TestConfigure:
		if g.settings == nil {
			g.settings = map[string]json.RawMessage{}
		}
		g.settings[in.Key] = in.Value
	case abi.TestAnswer:
		if g.answers == nil {
			g.answers = map[string][]httpAnswer{}
		}
		g.answers[in.URL] = append(g.answers[in.URL], in.httpAnswer)
	case abi.TestFetched:
		return json.Marshal(append([]httpSent{}, g.fetched...))
	default:
		return nil, fault.New(fault.NotImplemented, "", "There is no %s", name)
	}
	return null, nil
}

var null = []byte("null")

// actAs changes who acts. A user with other roles than the site knows of is a
// caller as credentials would make one of such a user.
func (b *Bench) actAs(ctx context.Context, user string, roles []string) error {
	t, _, err := b.running()
	if err != nil {
		return err
	}
	var caller *identity.Caller
	if roles == nil {
		if caller, err = t.Auth.Caller(ctx, user); err != nil {
			return fault.Missing("The site has no user %s that could act: name the roles it has", user)
		}
	} else {
		caller = &identity.Caller{User: user, FullName: user, Email: user, Roles: append([]string{identity.All, identity.Guest}, roles...)}
	}
	b.mu.Lock()
	b.caller = caller
	b.mu.Unlock()
	return nil
}

// Setting is what the test has set, on top of what the site's configuration says.
func (b *Bench) Setting(key string) (json.RawMessage, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	value, ok := b.given.settings[key]
	if string(value) == "null" {
		value = nil
	}
	return value, ok
}

// Fetch stands where the network is: hosts are checked as a server checks them,
// and the answer is the test's.
func (b *Bench) Fetch(hosts []string) hostapi.Fetch {
	return func(_ context.Context, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		if !reaches(hosts, r.URL) {
			return nil, fault.Denied("The plugin is not allowed to reach %s: it is not in allowed_hosts", r.URL)
		}
		return b.answered("", r)
	}
}

// Connected stands where Connected Apps are.
func (b *Bench) Connected(_ context.Context, _ *identity.Caller, app string, _ bool, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
	return b.answered(app, r)
}

func (b *Bench) answered(app string, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent := httpSent{App: app, Method: r.Method, URL: r.URL, httpBody: httpBody{Headers: map[string]string{}}}
	if sent.Method == "" {
		sent.Method = http.MethodGet
	}
	for name, values := range r.Header {
		sent.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	if utf8.Valid(r.Body) {
		sent.Body = string(r.Body)
	} else {
		sent.BodyBase64 = r.Body
	}
	b.given.fetched = append(b.given.fetched, sent)
	waiting := b.given.answers[r.URL]
	if len(waiting) == 0 {
		return nil, fault.New(fault.Unavailable, "", "The test has not said what %s answers", r.URL)
	}
	a := waiting[0]
	b.given.answers[r.URL] = waiting[1:]
	if a.Failure != "" {
		if !a.FailureKind.Valid() {
			a.FailureKind = fault.Unavailable
		}
		return nil, fault.New(a.FailureKind, a.FailureType, "%s", a.Failure)
	}
	response := &hostapi.HTTPResponse{Status: a.Status, Header: http.Header{}, Body: []byte(a.Body)}
	if a.Status == 0 {
		response.Status = http.StatusOK
	}
	for name, value := range a.Headers {
		response.Header.Set(name, value)
	}
	if a.BodyBase64 != nil {
		response.Body = a.BodyBase64
	}
	if int64(len(response.Body)) > r.MaxBody && r.MaxBody > 0 {
		return nil, fault.New(fault.TooLarge, "", "The answer of %s is over %d bytes", r.URL, r.MaxBody)
	}
	return response, nil
}

// bodyOf is bytes as the contract shows them: text, or else base64.
func bodyOf(body []byte) map[string]any {
	if utf8.Valid(body) {
		return map[string]any{"body": string(body)}
	}
	return map[string]any{"body_base64": base64.StdEncoding.EncodeToString(body)}
}

// reaches reports whether a URL is at one of the hosts.
func reaches(hosts []string, url string) bool {
	set, err := egress.ParseHosts(hosts...)
	return err == nil && set.Allows(url)
}
