package quickjs_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"testing"
)

// TestSignatures: a script checks what others have signed, as JSON Web Tokens are:
// RS256, RS512, ES256 and ES512.
func TestSignatures(t *testing.T) {
	m := script(t, `
		const bytes = (text) => new TextEncoder().encode(text), from = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
		export async function f({jwk, spki, importing, checking, signature, text}) {
			const of = async (format, key) => crypto.subtle.importKey(format, key, importing, false, ["verify"]);
			const keys = [await of("jwk", jwk), await of("spki", from(spki))];
			const other = from(signature);
			other[10] ^= 1;
			const answers = [keys[0].type, new Uint8Array(await crypto.subtle.exportKey("spki", keys[0])).length === from(spki).length];
			for (const key of keys) {
				for (const [s, d] of [[from(signature), text], [other, text], [from(signature), text + "x"], [from(signature).subarray(1), text]]) {
					answers.push(await crypto.subtle.verify(checking, key, s, bytes(d)));
				}
			}
			return answers;
		}`, "f")
	const text = "header.payload"
	sum256, sum512 := sha256.Sum256([]byte(text)), sha512.Sum512([]byte(text))
	number := func(n *big.Int, size int) string {
		return base64.RawURLEncoding.EncodeToString(n.FillBytes(make([]byte, size)))
	}
	check := func(t *testing.T, public any, jwk, importing map[string]any, checking any, signature []byte) {
		t.Helper()
		spki, err := x509.MarshalPKIXPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		input, err := json.Marshal(map[string]any{"jwk": jwk, "spki": spki, "importing": importing, "checking": checking, "signature": signature, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := answer(t, m, string(input)), `["public",true,true,false,false,false,true,false,false,false]`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for name, h := range map[string]struct {
		hash crypto.Hash
		sum  []byte
		alg  string
	}{"SHA-256": {crypto.SHA256, sum256[:], "RS256"}, "SHA-512": {crypto.SHA512, sum512[:], "RS512"}} {
		t.Run("RSA "+name, func(t *testing.T) {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := rsa.SignPKCS1v15(rand.Reader, key, h.hash, h.sum)
			if err != nil {
				t.Fatal(err)
			}
			check(t, &key.PublicKey, map[string]any{"kty": "RSA", "n": number(key.N, 256), "e": "AQAB", "alg": h.alg, "use": "sig", "kid": "1"},
				map[string]any{"name": "RSASSA-PKCS1-v1_5", "hash": name}, "RSASSA-PKCS1-v1_5", signature)
		})
	}
	for name, curve := range map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-521": elliptic.P521()} {
		t.Run("ECDSA "+name, func(t *testing.T) {
			key, err := ecdsa.GenerateKey(curve, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			r, s, err := ecdsa.Sign(rand.Reader, key, sum256[:])
			if err != nil {
				t.Fatal(err)
			}
			point, err := key.PublicKey.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			size := (curve.Params().BitSize + 7) / 8
			encoded := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
			check(t, &key.PublicKey, map[string]any{"kty": "EC", "crv": name, "x": encoded(point[1 : 1+size]), "y": encoded(point[1+size:])},
				map[string]any{"name": "ECDSA", "namedCurve": name}, map[string]any{"name": "ECDSA", "hash": "SHA-256"},
				append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...))
		})
	}
}
