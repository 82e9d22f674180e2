package quickjs

import (
	"crypto/x509"
	"testing"
)

// FuzzWebKey: what is read of a JSON Web Key is a key that can be used.
func FuzzWebKey(f *testing.F) {
	f.Add(`{"kty":"RSA","n":"AQAB","e":"AQAB"}`)
	f.Add(`{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}`) // RFC 7515 appendix A.3
	f.Fuzz(func(t *testing.T, text string) {
		key := webKey(text)
		if key == nil {
			return
		}
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil || parseKey(der) == nil {
			t.Errorf("%q is read and cannot be used: %v", text, err)
		}
	})
}
