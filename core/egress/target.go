package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"armature/core/fault"
)

// maxURL is how many bytes a URL may have, as it is given and as it is sent:
// encoding makes up to three of one.
const maxURL = 8 << 10

// target is a checked URL.
type target struct {
	url  *url.URL
	host string // a lower-case name without final dot, or an IP address in its usual form, without brackets
	port uint16
}

// CheckURL reports what is wrong with a URL that a request is to be made to: a
// Validation fault, which does not quote it.
func CheckURL(raw string) error {
	_, err := parseTarget(raw)
	return err
}

// parseTarget checks a URL that a caller asks for. Errors are Validation faults.
func parseTarget(raw string) (*target, error) {
	if len(raw) > maxURL {
		return nil, fault.Invalid("", "The URL is over %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fault.Invalid("", "This is no valid URL") // err repeats it, passwords and all
	}
	return newTarget(u)
}

// newTarget checks a parsed URL and brings it into one spelling, so that what is
// compared with a policy is what is connected to.
func newTarget(u *url.URL) (*target, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.Invalid("", "The URL must begin with https:// or http://")
	case u.Opaque != "" || u.Host == "":
		return nil, fault.Invalid("", "The URL has no host")
	case u.User != nil:
		return nil, fault.Invalid("", "The URL must not hold a user name or password")
	}
	name, digits, ok := splitPort(strings.TrimSuffix(u.Host, ":"))
	if !ok {
		return nil, fault.Invalid("", "The URL's host is not valid")
	}
	host, literal, ok := canonicalHost(name)
	if !ok {
		return nil, fault.Invalid("", "The URL's host is not valid; names with letters outside ASCII are written in their xn-- form")
	}
	port := defaultPort(u.Scheme)
	if digits != "" {
		if port, ok = parsePort(digits); !ok {
			return nil, fault.Invalid("", "The URL's port is not valid")
		}
	}
	clean := *u
	clean.Host = host
	switch {
	case port != defaultPort(u.Scheme):
		clean.Host = net.JoinHostPort(host, strconv.Itoa(int(port)))
	case literal && strings.Contains(host, ":"):
		clean.Host = "[" + host + "]"
	}
	clean.Fragment, clean.RawFragment = "", ""
	clean.RawQuery = escapeQuery(u.RawQuery)
	if len(clean.String()) > maxURL {
		return nil, fault.Invalid("", "The URL is over %d bytes once it is encoded", maxURL)
	}
	return &target{url: &clean, host: host, port: port}, nil
}

// defaultPort is the port of a URL that names none.
func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// sameOrigin reports whether what is secret to one may be told the other.
func (t *target) sameOrigin(o *target) bool {
	return t.url.Scheme == o.url.Scheme && t.host == o.host && t.port == o.port
}

// canonicalHost gives a host its one spelling. It refuses what resolvers read as
// an address in disguise, such as 127.1, 0x7f000001 and 2130706433.
func canonicalHost(s string) (host string, literal, ok bool) {
	if inner, found := strings.CutPrefix(s, "["); found {
		a, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !a.Is6() || a.Zone() != "" {
			return "", false, false
		}
		return a.Unmap().String(), true, true
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String(), true, a.Is4()
	}
	host = strings.ToLower(strings.TrimSuffix(s, "."))
	if len(host) > 253 {
		return "", false, false
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if !validLabel(label) {
			return "", false, false
		}
	}
	return host, false, !numeric(labels[len(labels)-1])
}

// validLabel accepts what host names are made of, and the underscore, which is
// not allowed in them and in use.
func validLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// numeric reports whether a label is a number to inet_aton.
func numeric(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	digits, ok := strings.CutPrefix(label, "0x")
	return ok && strings.Trim(digits, "0123456789abcdef") == ""
}

// escapeQuery encodes what must not stand in a request line. net/url encodes the
// path, and leaves the query as it was given.
func escapeQuery(q string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; c <= ' ' || c >= 0x7f {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
