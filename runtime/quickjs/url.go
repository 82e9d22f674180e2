package quickjs

import (
	"encoding/json"
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

// How long a URL may be, in bytes, and what stands before its query: no
// instruction of the guest is counted while it is taken apart, which takes time
// in proportion to the former and to the square of the latter. Every @ before the
// query has all before it read again.
const (
	maxURL    = 64 << 10
	maxBefore = 4 << 10
	maxAt     = 16
)

// urlFuel is what it costs to take a URL apart, as measured with the slowest ones.
func urlFuel(text string) uint64 {
	before := min(before(text), maxBefore)
	return 5000 + 500*uint64(min(len(text), maxURL)) + 2*uint64(before*before)
}

// urlParts is a URL as the prelude's class shows it.
type urlParts struct {
	Href     string `json:"href"`
	Origin   string `json:"origin"`
	Protocol string `json:"protocol"`
	Username string `json:"username"`
	Password string `json:"password"`
	Host     string `json:"host"`
	Hostname string `json:"hostname"`
	Port     string `json:"port"`
	Pathname string `json:"pathname"`
	Search   string `json:"search"`
	Hash     string `json:"hash"`
}

// url takes a URL apart as the URL standard says: (operation, URL, value) ->
// urlParts, or undefined for one that is none. The operation parse reads the URL
// with value as its base, if that is not empty; the others are the parts that can
// be set, to value.
func (x *exchange) url() uint64 {
	op, href, value := x.argString(0), x.argString(1), x.argString(2)
	x.c.Spend(urlFuel(href) + urlFuel(value))
	parts, ok := takeApart(op, href, value)
	if !ok {
		return x.undefined()
	}
	text, err := json.Marshal(parts)
	if err != nil {
		x.c.Abort(err)
	}
	return x.value(uint32(x.text(string(text))), uint32(len(text)))
}

func takeApart(op, href, value string) (parts urlParts, ok bool) {
	if len(href)+len(value) > maxURL || tedious(href) || op != "search" && op != "hash" && tedious(value) {
		return parts, false
	}
	defer func() {
		if recover() != nil { // of the parser: no URL it can read
			ok = false
		}
	}()
	var u *url.Url
	var err error
	if op == "parse" && value != "" {
		u, err = url.ParseRef(value, href)
	} else {
		u, err = url.Parse(href)
	}
	if err != nil {
		return parts, false
	}
	switch op {
	case "protocol":
		u.SetProtocol(value)
	case "username":
		u.SetUsername(value)
	case "password":
		u.SetPassword(value)
	case "host":
		u.SetHost(value)
	case "hostname":
		u.SetHostname(value)
	case "port":
		u.SetPort(value)
	case "pathname":
		u.SetPathname(value)
	case "search":
		u.SetSearch(value)
	case "hash":
		u.SetHash(value)
	}
	return urlParts{
		Href: u.Href(false), Origin: originOf(u), Protocol: u.Protocol(), Username: u.Username(), Password: u.Password(),
		Host: u.Host(), Hostname: u.Hostname(), Port: u.Port(), Pathname: u.Pathname(), Search: u.Search(), Hash: u.Hash(),
	}, true
}

// tedious reports whether a URL, or a part of one, would take too long.
func tedious(text string) bool {
	n := before(text)
	return n > maxBefore || strings.Count(text[:n], "@") > maxAt
}

// before is how many bytes stand before the query.
func before(text string) int {
	if end := strings.IndexAny(text, "?#"); end >= 0 {
		return end
	}
	return len(text)
}

// originOf is "null" where the standard gives a URL no origin to show.
func originOf(u *url.Url) string {
	switch u.Protocol() {
	case "http:", "https:", "ws:", "wss:", "ftp:":
		return u.Protocol() + "//" + u.Host()
	}
	return "null"
}
