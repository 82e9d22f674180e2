package egress

import "net/netip"

// The classes of addresses, for the tests.
const (
	Forbidden = forbidden
	Private   = private
	Public    = public
)

// Classify is classify.
func Classify(a netip.Addr) class { return classify(a) }

// Canonical is the URL that would be asked for, and its host.
func Canonical(raw string) (url, host string, err error) {
	t, err := parseTarget(raw)
	if err != nil {
		return "", "", err
	}
	return t.url.String(), t.host, nil
}

// Has reports whether a URL's host is in the set.
func (h Hosts) Has(raw string) bool {
	t, err := parseTarget(raw)
	return err == nil && h.has(t)
}
