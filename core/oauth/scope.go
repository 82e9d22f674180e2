package oauth

import "strings"

// openID is the scope of the ID token and of openid_profile.
const openID = "openid"

// wellFormed reports whether text is a scope (RFC 6749 section 3.3): printable
// ASCII without spaces, quotes and backslashes.
func wellFormed(scope string) bool {
	for i := range len(scope) {
		if c := scope[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return scope != ""
}

// covered reports whether one of the scopes allows all that wanted does, so that
// a client may ask for less than it could have. It has the form of a
// fosite.ScopeStrategy.
func covered(scopes []string, wanted string) bool {
	for _, scope := range scopes {
		if scope == wanted || includes(scope, wanted) {
			return true
		}
	}
	return false
}

// allCovered is covered for every one of wanted.
func allCovered(scopes, wanted []string) bool {
	for _, w := range wanted {
		if !covered(scopes, w) {
			return false
		}
	}
	return true
}

func includes(scope, wanted string) bool {
	if rest, ok := strings.CutPrefix(wanted, "resource:"); ok {
		if scope == "all" {
			return true
		}
		have, ok := strings.CutPrefix(scope, "resource:")
		if !ok {
			return false
		}
		name, access := cutAccess(have)
		wantName, wantAccess := cutAccess(rest)
		return (name == "*" || name == wantName) && (access == "write" && wantAccess == "read" || access == wantAccess)
	}
	if rest, ok := strings.CutPrefix(wanted, "method:"); ok {
		if scope == "all" {
			return true
		}
		have, ok := strings.CutPrefix(scope, "method:")
		prefix, wild := strings.CutSuffix(have, "*")
		return ok && wild && strings.HasPrefix(rest, prefix)
	}
	return false
}

// cutAccess splits <DocType>:<access>; a DocType's name may hold a colon.
func cutAccess(text string) (name, access string) {
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// scopeSet splits a list of scopes and drops repeated ones.
func scopeSet(text string) []string {
	var set []string
	seen := map[string]bool{}
	for _, scope := range strings.Fields(text) {
		if !seen[scope] {
			seen[scope] = true
			set = append(set, scope)
		}
	}
	return set
}
