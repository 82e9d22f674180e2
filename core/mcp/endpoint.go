package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/route"
)

// maxBody is how many bytes a message may have.
const maxBody = 4 << 20

// first is the scope that an agent is told to ask for first: it may look at what its
// user sees. Whatever else it needs is asked for when it does.
const first = "resource:*:read"

// Scopes are those by which agents reach what there is.
func Scopes() []string { return []string{first, "resource:*:write", "method:*"} }

// ResourceScope is the scope to begin with at the address of a request; empty: it is not
// the server's.
func ResourceScope(r *http.Request) string {
	if r.URL.Path == Path {
		return first
	}
	return ""
}

// serve answers a request. Errors: PageDoesNotExistError where the site has no
// server; PermissionError for a page of an origin that may not ask; TooLarge,
// DataError for a message that is none.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, on *route.Call) error {
	if !s.c.On() {
		return fault.New(fault.NotFound, "PageDoesNotExistError", "This site has no MCP server: its setting mcp is off")
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// Specification 2025-11-25, Streamable HTTP, Security Warning: an origin is checked
	// though no cookie counts here.
	if origin := r.Header.Get("Origin"); origin != "" && !s.c.Admits(r, origin) {
		return fault.Denied("Pages of %s may not use the MCP server of this site", origin)
	}
	// A cookie says who looks at a page, not which program asks.
	if on.Caller.IsGuest() || strings.TrimSpace(r.Header.Get("Authorization")) == "" {
		return s.unauthorized(w, r)
	}
	if err := readable(r, on.Exchange); err != nil {
		return err
	}
	c := &call{route: on, r: r, began: time.Now()}
	answer := &answer{header: http.Header{}}
	s.server().ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
	if c.needed != "" {
		return s.stepUp(w, r, c, answer)
	}
	for name, values := range answer.header {
		h[name] = values
	}
	return answer.send(w, max(answer.status, http.StatusOK))
}

// readable reads the message, and refuses what is not one: the SDK is given JSON of
// bounded depth alone.
func readable(r *http.Request, on route.Exchange) error {
	if r.Method != http.MethodPost {
		return nil
	}
	body, err := on.Body(maxBody)
	if err != nil {
		return err
	}
	// Batches were part of one specification, 2025-03-26. A hundred calls in one request
	// would be one request to every budget.
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return fault.New(fault.BadRequest, "", "Messages are sent one by one, not as a batch")
	}
	if _, err := method.ArgsJSON(body); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// unauthorized says where to ask for a token, and for which scope (RFC 9728 section
// 5.1). It leaves the cookies of whoever looks at the address alone.
func (s *Service) unauthorized(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("WWW-Authenticate", s.challenge(r, "", first))
	w.Header().Set("Content-Type", "application/json")
	a := &answer{}
	a.body.WriteString(`{"exc_type":"AuthenticationError","message":"An access token for this address, or an API key, is needed in the Authorization header"}`)
	return a.send(w, http.StatusUnauthorized)
}

// stepUp tells the agent which scope it lacks, beside those it has, so that it asks
// for all of them (RFC 6750 section 3.1; specification 2026-07-28, Authorization,
// Scope Challenge Handling). The body is the answer to the message.
func (s *Service) stepUp(w http.ResponseWriter, r *http.Request, c *call, a *answer) error {
	w.Header().Set("WWW-Authenticate", s.challenge(r, "insufficient_scope", strings.Join(with(c.route.Caller, c.needed), " ")))
	w.Header().Set("Content-Type", "application/json")
	return a.send(w, http.StatusForbidden)
}

// with are the scopes of a caller's token and another one.
func with(caller *identity.Caller, needed string) (all []string) {
	for _, set := range caller.Scopes {
		all = append(all, set.Keep().Scopes...)
	}
	if !slices.Contains(all, needed) {
		all = append(all, needed)
	}
	return all
}

var quotable = strings.NewReplacer(`"`, "", `\`, "")

func (s *Service) challenge(r *http.Request, code, scopes string) string {
	var parts []string
	if code != "" {
		parts = append(parts, `error="`+code+`"`)
	}
	parts = append(parts, `scope="`+quotable.Replace(scopes)+`"`)
	if address := s.c.Metadata(r); address != "" {
		parts = append(parts, `resource_metadata="`+quotable.Replace(address)+`"`)
	}
	return "Bearer " + strings.Join(parts, ", ")
}

// answer keeps what the SDK answers until it is known what the answer's status is.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// Flush implements http.Flusher: there is nothing to be early with.
func (a *answer) Flush() {}

func (a *answer) send(w http.ResponseWriter, status int) error {
	w.WriteHeader(status)
	_, err := w.Write(a.body.Bytes())
	if err != nil {
		return nil // the agent has gone, and the access log says so
	}
	return nil
}
