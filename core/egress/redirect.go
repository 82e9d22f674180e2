package egress

import (
	"errors"
	"io"
	"net/http"
	"net/url"
)

// hop is one request of a call.
type hop struct {
	target *target
	method string
	header http.Header
	body   []byte
	decode bool // ask for a compressed body, and decode it
}

// redirectTo is where an answer sends the caller; empty when it does not.
func redirectTo(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location")
	}
	return ""
}

// next is the hop that a redirect makes of h. Whether it is allowed is for the
// policy to say.
func (h *hop) next(status int, location string) (*hop, error) {
	if len(location) > maxURL {
		return nil, errors.New("the location is too long")
	}
	ref, err := url.Parse(location)
	if err != nil {
		return nil, err
	}
	t, err := newTarget(h.target.url.ResolveReference(ref))
	if err != nil {
		return nil, err
	}
	n := &hop{target: t, method: h.method, header: h.header.Clone(), body: h.body, decode: h.decode}
	// RFC 9110, section 15.4, and what every client has always done with 301
	// and 302: a write is answered by a page to read.
	keeps := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	if !keeps && n.method != http.MethodGet && n.method != http.MethodHead {
		n.method, n.body = http.MethodGet, nil
		withoutBody(n.header)
	}
	if !t.sameOrigin(h.target) {
		onlyHarmless(n.header)
	}
	return n, nil
}

// drop closes a body that nobody wants. A short one is read first, so that the
// connection can be used again.
func drop(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 2<<10)
	_ = body.Close()
}
