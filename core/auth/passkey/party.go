// Package passkey is the ceremonies of WebAuthn (W3C Web Authentication Level 3) as a
// site needs them: a passkey is made, and shown again. It keeps nothing: where what was
// asked waits for its answer, whose a passkey is, and that no answer counts twice is the
// caller's to know.
//
// The words are those of the specification: a party (relying party) is the site, with
// the id that browsers bind its passkeys to; a ceremony is one question and its answer.
package passkey

import (
	"net"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Party is the site as browsers and authenticators know it.
type Party struct {
	ID      string   // a domain name
	Name    string   // for people
	Origins []string // the pages that may ask, each scheme://host[:port]
}

func (p Party) relying() (*webauthn.WebAuthn, error) {
	return webauthn.New(&webauthn.Config{
		RPID: p.ID, RPDisplayName: p.Name, RPOrigins: p.Origins,
		// Nobody here decides by who made an authenticator, and what is not asked for
		// tells the site nothing.
		AttestationPreference: protocol.PreferNoAttestation,
		// Keys that can do neither are good as a second factor all the same.
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey:      protocol.ResidentKeyRequirementPreferred,
			UserVerification: protocol.VerificationPreferred,
		},
	})
}

// Serves reports whether pages of an origin may use passkeys of a party with that id
// (section 5.1.4.1 step 8: its host is the id or below it, in a secure context).
func Serves(id, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || id == "" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if net.ParseIP(host) != nil || host != id && !strings.HasSuffix(host, "."+id) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && Local(host)
}

// Local reports whether a host name is this device's, which browsers trust in clear text.
func Local(host string) bool { return host == "localhost" || strings.HasSuffix(host, ".localhost") }
