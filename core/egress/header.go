package egress

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"armature/core/fault"
)

// maxHeader bounds the header of a request and that of an answer, in bytes.
const maxHeader = 64 << 10

// ours are set by the client alone: they say where a request goes, where it ends
// and what happens to the connection. A guest that could set them could put a
// second request behind its first.
var ours = []string{
	"Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// harmless are the headers that follow a redirect to another origin. The rest
// may hold a secret under any name (X-Api-Key, Private-Token, ...).
var harmless = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Language", "Content-Type", "Range", "User-Agent",
}

// requestHeader checks a caller's header and copies it in canonical spelling.
// Errors are Validation faults and do not repeat values.
func requestHeader(given http.Header) (http.Header, error) {
	size := 0
	clean := make(http.Header, len(given)+2)
	for key, values := range given {
		if !validName(key) {
			return nil, fault.Invalid("", "A header has a name that is not valid")
		}
		name := textproto.CanonicalMIMEHeaderKey(key)
		switch {
		case slices.Contains(ours, name) || strings.HasPrefix(name, "Proxy-"):
			return nil, fault.Invalid("", "The header %s cannot be set", name)
		case clean[name] != nil:
			return nil, fault.Invalid("", "The header %s is given twice", name)
		}
		for _, v := range values {
			if !validValue(v) {
				return nil, fault.Invalid("", "The header %s has a value that is not valid", name)
			}
			size += len(name) + len(v) + len(": \r\n")
		}
		clean[name] = slices.Clone(values)
	}
	if size > maxHeader {
		return nil, fault.Invalid("", "The headers are over %d bytes", maxHeader)
	}
	return clean, nil
}

// validName accepts a token of RFC 9110, section 5.6.2.
func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// validValue refuses control characters, above all line ends.
func validValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// onlyHarmless takes out what another origin must not see.
func onlyHarmless(h http.Header) {
	for name := range h {
		if !slices.Contains(harmless, name) {
			delete(h, name)
		}
	}
}

// withoutBody takes out what describes a body that is no longer sent.
func withoutBody(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "Content-") {
			delete(h, name)
		}
	}
}

// answerHeader takes out what only concerned the connection.
func answerHeader(h http.Header) http.Header {
	for name := range h {
		if slices.Contains(ours, name) && name != "Content-Length" || strings.HasPrefix(name, "Proxy-") {
			delete(h, name)
		}
	}
	return h
}
