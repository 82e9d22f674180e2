package auth

import (
	"strings"

	"armature/core/doctype"
)

// admit refuses a user whose password is right but who may not log in: a
// disabled one, one outside the hours of login_after and login_before, one at
// another address than restrict_ip allows. Only who knows the password is told.
func (s *Service) admit(user *doctype.Document, from Remote) error {
	if !user.Bool("enabled") || !logsIn(user) {
		return refusal("User disabled or missing")
	}
	hour := int64(s.now().Hour())
	if after := user.Int("login_after"); after > 0 && hour < after {
		return refusal("Login not allowed at this time")
	}
	if before := user.Int("login_before"); before > 0 && hour >= before {
		return refusal("Login not allowed at this time")
	}
	if !addressAllowed(user.Text("restrict_ip"), from.Address) {
		return refusal("Access not allowed from this IP Address")
	}
	return nil
}

// addressAllowed reports whether an address begins with one of the listed
// beginnings; an empty list allows all. A beginning ends where a part of the
// address does: 10.1 is not 10.12.0.0.
func addressAllowed(list, address string) bool {
	allowed := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' || r == '\r' })
	for _, beginning := range allowed {
		rest, ok := strings.CutPrefix(address, beginning)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == ':' || strings.HasSuffix(beginning, ".") || strings.HasSuffix(beginning, ":")) {
			return true
		}
	}
	return len(allowed) == 0
}
