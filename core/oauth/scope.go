package oauth

import (
	"slices"
	"strings"

	"armature/core/scope"
)

// openID is the scope of the ID token and of openid_profile.
const openID = "openid"

// anyScope stands for all scopes there are, where those that count were checked
// before. With a space in it, it is none that anybody could send.
const anyScope = "any scope"

// covered reports whether one of the scopes allows all that wanted does, so that
// a client may ask for less than it could have. It has the form of a
// fosite.ScopeStrategy.
func covered(scopes []string, wanted string) bool {
	return slices.Contains(scopes, anyScope) || scope.Covered(scopes, wanted)
}

// wellFormed reports whether text is a scope (RFC 6749 section 3.3): printable
// ASCII without spaces, quotes and backslashes.
func wellFormed(word string) bool {
	for i := range len(word) {
		if c := word[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return word != ""
}

// allCovered reports whether the scopes cover every one of wanted.
func allCovered(scopes, wanted []string) bool {
	for _, w := range wanted {
		if !covered(scopes, w) {
			return false
		}
	}
	return true
}

// scopeSet splits a list of scopes and drops repeated ones.
func scopeSet(text string) []string {
	var set []string
	seen := map[string]bool{}
	for _, word := range strings.Fields(text) {
		if !seen[word] {
			seen[word] = true
			set = append(set, word)
		}
	}
	return set
}

// claimScopes are those by which OpenID Connect clients ask for claims, and for a refresh
// token (OpenID Connect Core 1.0, sections 5.4 and 11). Beside openid they stand for
// nothing here: it gives all the claims there are, and every grant has a refresh token.
var claimScopes = []string{"profile", "email", "address", "phone", "offline_access"}

// withoutClaims leaves out the scopes of claims that the client was not given, where it
// asks for openid: scopes that a server does not understand should be ignored (section
// 3.1.2.1), and every OpenID Connect client asks for these by itself.
func (c *client) withoutClaims(asked []string) []string {
	if !slices.Contains(asked, openID) {
		return asked
	}
	return slices.DeleteFunc(slices.Clone(asked), func(one string) bool {
		return slices.Contains(claimScopes, one) && !covered(c.scopes, one)
	})
}
