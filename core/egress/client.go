package egress

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"armature/core/fair"
	"armature/core/fault"
	"armature/core/trace"
)

// Config is what a Client needs. The zero value is of use.
type Config struct {
	Resolver  *net.Resolver  // nil: the system's
	RootCAs   *x509.CertPool // nil: the system's
	UserAgent string         // where a request has none; empty: "Armature"
}

// Client makes outgoing requests. It keeps no cookies and remembers nothing but
// idle connections, which all its callers share. It may be used concurrently.
type Client struct {
	agent string

	// Connections that a policy's Private has allowed are kept apart: a call
	// without that permission must not be given one from the pool. Reaching
	// private is asking for a host by a name in Private, so whoever is given a
	// connection from there is allowed it too.
	public  *http.Transport
	private *http.Transport
}

// New makes a client. Close it when it is no longer used.
func New(cfg Config) *Client {
	return &Client{
		agent:   cmp.Or(cfg.UserAgent, "Armature"),
		public:  newTransport(cfg, public),
		private: newTransport(cfg, private),
	}
}

// Close closes idle connections. Calls under way go on.
func (c *Client) Close() {
	c.public.CloseIdleConnections()
	c.private.CloseIdleConnections()
}

// Request is what a call asks for. It is not changed.
type Request struct {
	Method string // empty: GET
	URL    string
	Header http.Header // keys in any spelling
	Body   []byte
}

// Response is the answer, of any status from 200.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do makes a request within a policy and follows redirects as far as that
// allows. Errors are faults, and their messages name no address, and of hosts those
// that the caller gave and the one that a redirect is refused for: Validation for a request that cannot be sent,
// Permission for a host, method or address that is not allowed, TooLarge for a
// body over its limit, Timeout, and Unavailable when no answer can be had.
func (c *Client) Do(ctx context.Context, p Policy, r Request) (*Response, error) {
	p = p.withDefaults()
	h, err := firstHop(r)
	if err != nil {
		return nil, err
	}
	if err := p.check(h); err != nil {
		return nil, err
	}
	if int64(len(r.Body)) > p.MaxRequestBody {
		return nil, fault.New(fault.TooLarge, "", "The body of the request is over %d bytes", p.MaxRequestBody)
	}
	if err := unconfirmed(ctx, h.method, h.target.url.Redacted()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	asked := h.target.url.Host
	// Of the address only the host is told: the rest may hold a key.
	ctx, span := trace.Start(ctx, trace.Client, "HTTP "+h.method)
	span.Set("http.request.method", h.method)
	span.Set("server.address", asked)
	resp, err := c.follow(ctx, &p, h)
	if err != nil {
		err = failure(ctx, asked, err)
		span.End(fault.From(err).ExcType())
		return nil, err
	}
	span.Set("http.response.status_code", int64(resp.Status))
	span.End("")
	return resp, nil
}

// follow makes hops until one of them has the answer.
func (c *Client) follow(ctx context.Context, p *Policy, h *hop) (*Response, error) {
	asked := h.target.url.Host
	for redirects := 0; ; redirects++ {
		resp, err := c.send(ctx, p, h)
		if err != nil {
			return nil, err
		}
		location := redirectTo(resp)
		if location == "" || p.MaxRedirects <= 0 {
			defer resp.Body.Close()
			return answer(resp, h, p.MaxBody)
		}
		drop(resp.Body)
		if redirects >= p.MaxRedirects {
			return nil, fault.New(fault.Unavailable, "", "%s redirects more than %d times", asked, p.MaxRedirects)
		}
		if h, err = h.next(resp.StatusCode, location); err != nil {
			return nil, fault.Wrap(fault.Unavailable, "", err, "%s redirects to something that is no valid URL", asked)
		}
		if err := p.check(h); err != nil {
			return nil, fault.Wrap(fault.Permission, "", err, "%s redirects to %s, which this call may not reach", asked, refusedHost(h))
		}
	}
}

// refusedHost is the host that a redirect is refused for: whoever wants it followed
// has to allow it by this name. An address is not told, as nobody allows those.
func refusedHost(h *hop) string {
	if _, err := netip.ParseAddr(h.target.url.Hostname()); err == nil {
		return "an address"
	}
	return h.target.url.Host
}

// send makes one hop. The caller closes the body.
func (c *Client) send(ctx context.Context, p *Policy, h *hop) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, h.method, h.target.url.String(), bytes.NewReader(h.body))
	if err != nil {
		return nil, err
	}
	req.Header = h.header.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.agent)
	}
	if h.decode {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	transport := c.public
	if p.Private.has(h.target) {
		transport = c.private
	}
	defer fair.Pause(ctx).Resume(ctx)
	return transport.RoundTrip(req)
}

// firstHop checks what the caller asks for, apart from whether it may.
func firstHop(r Request) (*hop, error) {
	t, err := parseTarget(r.URL)
	if err != nil {
		return nil, err
	}
	header, err := requestHeader(r.Header)
	if err != nil {
		return nil, err
	}
	h := &hop{target: t, method: strings.ToUpper(cmp.Or(r.Method, http.MethodGet)), header: header, body: r.Body}
	// A part of a compressed body cannot be decoded, and a caller who speaks of
	// encodings wants to decode. HEAD has no body and should tell its true size.
	h.decode = header["Accept-Encoding"] == nil && header["Range"] == nil && h.method != http.MethodHead
	return h, nil
}
