package egress

import (
	"slices"
	"strconv"
	"strings"

	"armature/core/fault"
)

// Hosts is a set of hosts, written as patterns. The zero value has none. It does
// not change and may be shared.
type Hosts struct {
	patterns []pattern
}

// pattern is one entry. Port 0 stands for the port that the URL's scheme has by
// itself.
type pattern struct {
	name  string // in the spelling of a target's host
	below bool   // any name below it, not the name itself
	port  uint16
}

// ParseHosts reads patterns: a host name, "*." and a name for every name below
// it, or an IP address (IPv6 in brackets); each may end in a port. A pattern
// without a port allows only the port of the URL's scheme, 80 or 443. The error
// is a Validation and quotes the pattern.
func ParseHosts(patterns ...string) (Hosts, error) {
	var h Hosts
	for _, text := range patterns {
		p, ok := parsePattern(text)
		if !ok {
			return Hosts{}, fault.Invalid("", "%q is no host pattern: expected a name such as api.example.com, *.example.com or api.example.com:8443", text)
		}
		h.patterns = append(h.patterns, p)
	}
	return h, nil
}

func parsePattern(text string) (p pattern, ok bool) {
	name, port, ok := splitPort(text)
	if !ok {
		return pattern{}, false
	}
	if port != "" {
		if p.port, ok = parsePort(port); !ok {
			return pattern{}, false
		}
	}
	rest, below := strings.CutPrefix(name, "*.")
	host, literal, ok := canonicalHost(rest)
	if !ok || literal && below {
		return pattern{}, false
	}
	p.name, p.below = host, below
	return p, true
}

// splitPort takes the port, if there is one, off a host. Brackets of an IPv6
// address stay.
func splitPort(text string) (host, port string, ok bool) {
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return "", "", false
		}
		rest := text[end+1:]
		port, found := strings.CutPrefix(rest, ":")
		return text[:end+1], port, rest == "" || found && port != ""
	}
	host, port, found := strings.Cut(text, ":")
	return host, port, !found || port != ""
}

func parsePort(s string) (uint16, bool) {
	if strings.TrimLeft(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && n > 0
}

// Allows reports whether the host of a URL is in the set.
func (h Hosts) Allows(rawURL string) bool {
	t, err := parseTarget(rawURL)
	return err == nil && h.has(t)
}

// has reports whether the target is in the set.
func (h Hosts) has(t *target) bool {
	return slices.ContainsFunc(h.patterns, func(p pattern) bool { return p.matches(t) })
}

func (p pattern) matches(t *target) bool {
	if p.port == 0 && t.port != defaultPort(t.url.Scheme) || p.port != 0 && t.port != p.port {
		return false
	}
	if !p.below {
		return t.host == p.name
	}
	// No address ends in a name: the last part of a name is never a number.
	sub, ok := strings.CutSuffix(t.host, "."+p.name)
	return ok && sub != ""
}
