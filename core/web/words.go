package web

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"armature/core/identity"
)

// longest is how much of a name somebody else has chosen is shown.
const longest = 80

// plain makes a name that somebody else has chosen fit to be shown in a
// sentence: in one line and not endless.
func plain(name string) string {
	name = oneLine(name)
	if letters := []rune(name); len(letters) > longest {
		return string(letters[:longest]) + "…"
	}
	return name
}

// oneLine is text without what is not seen, above all the letters that turn the
// direction of what follows.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) || unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, strings.Join(strings.Fields(text), " "))
}

// nameOf is what a user is called on a page.
func nameOf(caller *identity.Caller) string {
	if name := plain(caller.FullName); name != "" {
		return name
	}
	return caller.User
}

// scope is one thing an application may do, in words.
type scope struct {
	Text   string
	Strong bool // it reaches everything
}

// essential are the scopes that a person has to know of: beside everything what is
// part of it would only hide it.
func essential(scopes []string) []string {
	if !slices.Contains(scopes, "all") {
		return scopes
	}
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool {
		return strings.HasPrefix(s, "resource:") || strings.HasPrefix(s, "method:")
	})
}

// pageAddress is the address of a page that somebody else has named, empty where
// following it would do anything but open a page.
func pageAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// scopesInWords says what scopes allow (core/document and core/method enforce
// them). One that nothing enforces is shown as it is.
func scopesInWords(scopes []string) []scope {
	words := make([]scope, 0, len(scopes))
	for _, s := range scopes {
		words = append(words, scopeInWords(s))
	}
	return words
}

func scopeInWords(s string) scope {
	switch s {
	case "openid":
		return scope{Text: "Know who you are: your name, e-mail address, picture and roles"}
	case "all":
		return scope{Text: "Do everything that you can do here", Strong: true}
	}
	if rest, ok := strings.CutPrefix(s, "resource:"); ok {
		if at := strings.LastIndexByte(rest, ':'); at > 0 {
			if sc, ok := resourceInWords(rest[:at], rest[at+1:]); ok {
				return sc
			}
		}
	}
	if path, ok := strings.CutPrefix(s, "method:"); ok && path != "" {
		prefix, many := strings.CutSuffix(path, "*")
		switch {
		case many && prefix == "":
			return scope{Text: "Call every method that you may call", Strong: true}
		case many:
			return scope{Text: "Call the methods whose names begin with " + plain(prefix)}
		}
		return scope{Text: "Call the method " + plain(path)}
	}
	return scope{Text: "Use “" + plain(s) + "”, which this site does not know"}
}

func resourceInWords(name, access string) (scope, bool) {
	what, all := "all documents", name == "*"
	if !all {
		decoded, err := url.PathUnescape(name)
		if err != nil {
			return scope{}, false
		}
		what = "documents of the type " + plain(decoded)
	}
	switch access {
	case "read":
		return scope{Text: "Read " + what + " that you may read"}, true
	case "write":
		return scope{Text: "Read, create, change and delete " + what + ", as far as you may", Strong: all}, true
	}
	return scope{}, false
}

// target says where the answer to an application goes.
type target struct {
	Words  string // what kind of place it is
	Domain string // of the host, whoever owns which owns the host; empty: there is none
	Host   string // the whole of it
	Plain  bool   // in clear text over a network
}

// targetOf describes a redirect URI. A name before the host (user@host) is not
// shown, and a host in another script is shown as the network knows it: neither
// can look like a host it is not.
func targetOf(uri string) target {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" {
		return target{Words: "It goes to", Host: plain(uri)}
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return target{Words: "It goes to the application on this device that opens links beginning with", Host: plain(u.Scheme) + ":"}
	}
	host := u.Hostname()
	if loopback(host) {
		return target{Words: "It goes to a program on this device, at", Host: plain(u.Host)}
	}
	if ascii, err := idna.Punycode.ToASCII(host); err == nil {
		host = ascii
	}
	domain := registrable(host)
	if port := u.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return target{Words: "It goes to", Domain: domain, Host: whole(host), Plain: u.Scheme == "http"}
}

// registrable is the part of a host by which it belongs to somebody; empty where
// there is none. A long name hides at which end that is: it is said first and whole.
func registrable(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	domain, _ := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(strings.TrimSuffix(host, ".")))
	return domain
}

// domainOf is whose a host is, a port included: one that belongs to nobody by its
// name stands for itself.
func domainOf(host string) string {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return cmp.Or(registrable(strings.Trim(name, "[]")), whole(host))
}

// whole is a host that is not cut, of at most 255 bytes, as all there are.
func whole(host string) string { return oneLine(host) }

// loopback reports whether a host is the device the browser runs on.
func loopback(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
