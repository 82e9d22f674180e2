package oauth

import (
	"net/url"
	"slices"
	"strings"

	"armature/core/egress"
)

// A client may be known by an address instead of an id that a site has made: that
// of a document with its metadata (draft-ietf-oauth-client-id-metadata-document-02).
// Who can publish there is the client. It has no secret and is nowhere registered.

// isAddress reports whether a client id is an address; those of a site's own
// making are hexadecimal.
func isAddress(id string) bool { return strings.HasPrefix(id, "https://") }

// badAddress says why an address is no client id (section 3 of the draft); empty
// when it is one. What has two spellings is refused: whoever compares addresses
// later, a person too, is to see one.
func badAddress(id string) string {
	if len(id) > maxID {
		return "it has over 140 characters"
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c >= 0x7f {
			return "it has characters that have to be percent-encoded"
		}
	}
	u, err := url.Parse(id)
	switch {
	case err != nil || egress.CheckURL(id) != nil || u.String() != id:
		return "it is no valid URL"
	case u.User != nil:
		return "it has a user name"
	case strings.Contains(id, "#"):
		return "it has a fragment"
	case u.Path == "":
		return "it has no path"
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return part == "." || part == ".." }):
		return "its path has . or .. in it"
	}
	return ""
}

// hostOf is the host of an address, with a port that is not the usual one.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// sameRedirect reports whether a request may name a redirect URI because the
// client's metadata names another one: a native application listens at whatever
// port is free, and its document is the same for everybody (RFC 8252 section 7.3,
// RFC 9700 section 2.1). All but the port is compared letter by letter.
func sameRedirect(listed, asked string) bool {
	a, errA := url.Parse(listed)
	b, errB := url.Parse(asked)
	if errA != nil || errB != nil || a.Scheme != "http" || !loopback(a.Hostname()) || badRedirect(asked) != "" {
		return false
	}
	return withoutPort(listed, a) == withoutPort(asked, b)
}

// withoutPort is a URI as it is written, but for its port.
func withoutPort(text string, u *url.URL) string {
	bare, ok := strings.CutSuffix(u.Host, ":"+u.Port())
	if !ok {
		return text
	}
	return strings.Replace(text, u.Host, bare, 1)
}
