package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ory/fosite"
	"golang.org/x/sync/singleflight"

	"armature/core/egress"
	"armature/core/fault"
)

// Bounds of what is fetched and kept of clients that are known by an address.
const (
	maxDocument = 10 << 10        // bytes; the draft recommends twice less (section 8.7)
	patience    = 5 * time.Second // for one document
	maxFetches  = 4               // at once, of one site
	maxKept     = 500             // documents of one site, in a process
	shortestUse = time.Minute     // however little an answer says it may be kept
	usualUse    = 5 * time.Minute
	longestUse  = time.Hour
)

// addressed are the clients of a site that are known by an address, as their
// documents have described them lately. Errors and documents that cannot be used
// are not kept (section 5.2).
type addressed struct {
	group singleflight.Group
	turns chan struct{} // one for each fetch under way

	mu   sync.Mutex
	kept map[string]described
}

type described struct {
	client *client
	until  time.Time
}

func newAddressed() *addressed {
	return &addressed{turns: make(chan struct{}, maxFetches), kept: map[string]described{}}
}

func (k *addressed) get(id string, now time.Time) *client {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d, ok := k.kept[id]; ok && now.Before(d.until) {
		return d.client
	}
	return nil
}

func (k *addressed) put(id string, c *client, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) >= maxKept {
		clear(k.kept)
	}
	k.kept[id] = described{c, until}
}

// holderOf is a client that is known by an address as far as that alone says
// something: tokens were given to it, and are refreshed and looked at without
// asking its host, which may be away. fosite.ErrNotFound where the settings do not
// let such clients in.
func (s *Service) holderOf(ctx context.Context, id string) (*client, error) {
	set, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	if !set.addresses || badAddress(id) != "" {
		return nil, fosite.ErrNotFound
	}
	return newAddressedClient(id), nil
}

func newAddressedClient(id string) *client {
	return &client{
		id: id, host: hostOf(id), name: hostOf(id), itself: true, codeFlow: true, method: methodNone, algorithm: rs256,
		scopes: []string{anyScope},
	}
}

// asking is the client of a request for authorization: one that is known by an
// address as its document describes it. Errors: a directError saying what is wrong
// with the address or the document; TooManyRequests and Unavailable.
func (s *Service) asking(r *http.Request, base, id string) (*client, error) {
	if isApp(id) {
		return s.askingApp(r, id)
	}
	if !isAddress(id) {
		return s.client(r.Context(), id)
	}
	if _, err := s.holderOf(r.Context(), id); gone(err) && badAddress(id) != "" {
		return nil, direct("invalid_request", "The client_id is no address of client metadata: "+badAddress(id)+".")
	} else if err != nil {
		return nil, err
	}
	// Who may upload a file here could otherwise speak for the site.
	if s.c.Ours(r, id) {
		return nil, direct("invalid_request", "The client_id is an address of this site.")
	}
	if found := s.addressed.get(id, s.c.Now()); found != nil {
		return found, nil
	}
	if err := s.countNew(r); err != nil {
		return nil, err
	}
	v, err, _ := s.addressed.group.Do(id, func() (any, error) {
		// Whoever else waits for it is not to fail because the first has gone.
		ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
		defer stop()
		return s.fetchClient(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	return v.(*client), nil
}

// countNew counts what somebody's request makes this site learn of clients: a
// registration, or a document fetched.
func (s *Service) countNew(r *http.Request) error {
	set, err := s.settings(r.Context())
	if err != nil || s.c.Count == nil || set.perHour <= 0 {
		return err
	}
	return s.c.Count(r.Context(), set.perHour, s.c.Remote(r).Network())
}

// fetchClient asks for a document, and keeps what it says as long as its server
// allows, within bounds.
func (s *Service) fetchClient(ctx context.Context, id string) (*client, error) {
	select {
	case s.addressed.turns <- struct{}{}:
		defer func() { <-s.addressed.turns }()
	case <-ctx.Done():
		return nil, fault.New(fault.Unavailable, "", "Too much client metadata is being fetched at the moment")
	}
	answer, err := s.fetch(ctx, id)
	if err != nil {
		// Which of many reasons it was would tell about the network of this server.
		s.log.InfoContext(ctx, "fetch client metadata", "host", hostOf(id), "error", err)
		return nil, direct("invalid_request", "The metadata of the client could not be fetched from "+hostOf(id)+".")
	}
	found, err := readDocument(id, answer)
	if err != nil {
		return nil, direct("invalid_request", "The metadata of the client at "+hostOf(id)+" cannot be used: "+err.Error()+".")
	}
	s.addressed.put(id, found, s.c.Now().Add(useFor(answer.Header.Get("Cache-Control"))))
	return found, nil
}

// fetch follows no redirect (section 5): where it led would be who the client is.
func (s *Service) fetch(ctx context.Context, id string) (*egress.Response, error) {
	u, err := url.Parse(id)
	if err != nil {
		return nil, err
	}
	allowed, err := egress.ParseHosts(u.Host)
	if err != nil {
		return nil, err
	}
	private, err := egress.ParseHosts(s.c.PrivateHosts()...)
	if err != nil {
		return nil, err
	}
	return s.c.Egress.Do(ctx, egress.Policy{
		Allowed: allowed, Private: private, Methods: []string{http.MethodGet}, MaxBody: maxDocument, Timeout: patience,
	}, egress.Request{URL: id, Header: http.Header{"Accept": {"application/json"}}})
}

// readDocument makes a client of an answer (section 4).
func readDocument(id string, answer *egress.Response) (*client, error) {
	if answer.Status != http.StatusOK {
		return nil, fmt.Errorf("the status of the answer is not 200")
	}
	media, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || media != "application/json" && !(strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")) {
		return nil, fmt.Errorf("it is not JSON (application/json)")
	}
	var own struct {
		ID      string          `json:"client_id"`
		Secret  json.RawMessage `json:"client_secret"`
		Expires json.RawMessage `json:"client_secret_expires_at"`
	}
	m := &clientMetadata{}
	body := bytes.TrimSpace(answer.Body)
	if len(body) == 0 || body[0] != '{' || json.Unmarshal(body, &own) != nil || json.Unmarshal(body, m) != nil {
		return nil, fmt.Errorf("it is not a JSON object of client metadata")
	}
	switch {
	case own.ID != id:
		return nil, fmt.Errorf("its client_id is not its address")
	case own.Secret != nil || own.Expires != nil:
		return nil, fmt.Errorf("it has a secret, which everybody could read")
	case m.Method != "" && m.Method != "none":
		return nil, fmt.Errorf("its token_endpoint_auth_method is not none")
	}
	return describedClient(id, m)
}

// describedClient checks the metadata as that of a registration. A document is for
// many servers: what it offers beside the code flow is no reason to refuse it.
func describedClient(id string, m *clientMetadata) (*client, error) {
	if len(m.GrantTypes) > 0 && !slices.Contains(m.GrantTypes, "authorization_code") ||
		len(m.ResponseTypes) > 0 && !slices.Contains(m.ResponseTypes, "code") {
		return nil, fmt.Errorf("it does not use authorization codes")
	}
	m.Method, m.GrantTypes, m.ResponseTypes = "none", nil, nil
	if m.Algorithm == hs256 {
		return nil, fmt.Errorf("its id_token_signed_response_alg needs a secret")
	}
	declared := scopeSet(m.Scope)
	if err := m.check(); err != nil {
		p, _ := problemOf(err)
		return nil, fmt.Errorf("%s", strings.TrimSuffix(p.description, "."))
	}
	c := newAddressedClient(id)
	c.name, c.policy, c.terms = *m.Name, m.Policy, m.Terms
	c.redirects = m.RedirectURIs
	if len(c.redirects) == 1 {
		c.fallback = c.redirects[0]
	}
	// One that names no scopes may ask for any part of what a user may do, but has to
	// ask for it, and for everything only where its document says so.
	c.scopes, c.usual = declared, declared
	if len(declared) == 0 {
		c.scopes, c.usual = []string{openID, "resource:*:write", "method:*"}, []string{openID}
	}
	return c, nil
}

// useFor is how long a document is used before it is fetched anew.
func useFor(cacheControl string) time.Duration {
	keep := usualUse
	for directive := range strings.SplitSeq(strings.ToLower(cacheControl), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return shortestUse
		case "max-age":
			if seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil {
				keep = time.Duration(seconds) * time.Second
			}
		}
	}
	return min(max(keep, shortestUse), longestUse)
}
