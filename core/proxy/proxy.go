// Package proxy finds out who made a request that proxies have passed on.
//
// A proxy says in headers whom it speaks for. So can anybody else: the headers
// count only on a connection from an address that the operator trusts, and
// everywhere else they are taken off before the request goes on. What is left in
// a request that has passed Trusted.Request is therefore true as far as the
// trusted proxies are.
package proxy

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// The headers that a proxy sets. Forwarded (RFC 7239) and X-Real-Ip are not
// read: a proxy that sets another header than the one that is read leaves that
// one to the client.
const (
	forHeader   = "X-Forwarded-For"
	protoHeader = "X-Forwarded-Proto"
	hostHeader  = "X-Forwarded-Host"

	// SiteHeader names the site a request is for, whatever its host.
	SiteHeader = "X-Framework-Site-Name"
)

var headers = []string{forHeader, protoHeader, hostHeader, SiteHeader, "Forwarded", "X-Real-Ip"}

// DefaultHeaders are those that every proxy sets. One that says nothing of the
// others hands on what the client says.
const DefaultHeaders = forHeader + "," + protoHeader

// AllHeaders are all that can be trusted.
const AllHeaders = DefaultHeaders + "," + hostHeader + "," + SiteHeader

// Trusted is the networks whose connections are those of trusted proxies, and the
// headers these set; the zero value trusts nobody.
type Trusted struct {
	networks []netip.Prefix
	headers  []string
}

// Parse reads addresses and networks such as 10.0.0.0/8, and the names of headers,
// both separated by commas or white space.
func Parse(list, headers string) (Trusted, error) {
	var t Trusted
	known := fields(AllHeaders)
	for _, name := range fields(headers) {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if i < 0 {
			return Trusted{}, fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
		}
		t.headers = append(t.headers, known[i])
	}
	for _, text := range fields(list) {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, err := netip.ParseAddr(text)
			if err != nil {
				return Trusted{}, fmt.Errorf("%q is no address and no network such as 10.0.0.0/8", text)
			}
			address = address.Unmap()
			network = netip.PrefixFrom(address, address.BitLen())
		}
		t.networks = append(t.networks, network.Masked())
	}
	return t, nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// trusts reports whether an address is that of a trusted proxy.
func (t Trusted) trusts(address netip.Addr) bool {
	for _, n := range t.networks {
		if n.Contains(address) {
			return true
		}
	}
	return false
}

// Request returns the request as its client made it: RemoteAddr is the client's
// address, Host the host it asked for, and X-Forwarded-Proto, if it is there, is
// http or https. The site header is left to whoever finds the site. Headers that
// nobody trusted has set are gone.
func (t Trusted) Request(r *http.Request) *http.Request {
	if !forwarded(r.Header) {
		return r
	}
	told := r.Header
	r = r.WithContext(r.Context()) // a shallow copy: the request is not ours to change
	r.Header = told.Clone()
	for _, name := range headers {
		r.Header.Del(name)
	}
	peer, ok := address(r.RemoteAddr)
	if !ok || !t.trusts(peer) {
		return r
	}
	said := func(header string) []string {
		if slices.Contains(t.headers, header) {
			return told[header]
		}
		return nil
	}
	r.RemoteAddr = net.JoinHostPort(t.client(peer, said(forHeader)).String(), "0")
	if proto := strings.ToLower(last(said(protoHeader))); proto == "http" || proto == "https" {
		r.Header.Set(protoHeader, proto)
	}
	if host := last(said(hostHeader)); plausible(host) {
		r.Host = host
	}
	if site := said(SiteHeader); len(site) == 1 {
		r.Header.Set(SiteHeader, site[0])
	}
	return r
}

// Secure reports whether the client spoke TLS, with the server or with a trusted
// proxy. The request has passed Trusted.Request.
func Secure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get(protoHeader) == "https"
}

func forwarded(h http.Header) bool {
	for _, name := range headers {
		if _, there := h[name]; there {
			return true
		}
	}
	return false
}

// client goes through the addresses from the right, where the nearest proxy has
// written, and ends at the first that no trusted proxy vouches for: what stands
// further left the client may have made up.
func (t Trusted) client(peer netip.Addr, lines []string) netip.Addr {
	for i := len(lines) - 1; i >= 0; i-- {
		hops := strings.Split(lines[i], ",")
		for j := len(hops) - 1; j >= 0; j-- {
			hop, ok := address(strings.TrimSpace(hops[j]))
			if !ok {
				return peer
			}
			peer = hop
			if !t.trusts(hop) {
				return peer
			}
		}
	}
	return peer
}

// address reads an address with or without a port.
func address(text string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone(""), err == nil
}

// last is the last entry of a header that is a list.
func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	line := lines[len(lines)-1]
	return strings.TrimSpace(line[strings.LastIndexByte(line, ',')+1:])
}

// plausible reports whether text can be a host with or without a port.
func plausible(host string) bool {
	if host == "" || len(host) > 255 {
		return false
	}
	for i := range len(host) {
		switch c := host[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-', c == '.', c == ':', c == '[', c == ']', c == '_':
		default:
			return false
		}
	}
	return true
}
