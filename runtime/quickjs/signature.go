package quickjs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
)

// The keys of RSA that are taken, in bits: shorter ones are no protection, and
// longer ones cost time.
const (
	minModulus = 1024
	maxModulus = 8192
)

// maxKey is more than any public key is long, in bytes, in any form.
const maxKey = 16 << 10

// What reading a key costs, and checking a signature, as measured: that of RSA
// grows with the square of the modulus and is this for the longest, 11 ms with the
// worst exponent.
const (
	keyFuel = 20_000
	rsaFuel = 45_000_000
)

// curves are those of ECDSA, with what checking a signature costs.
var curves = map[string]struct {
	elliptic.Curve
	fuel uint64
}{
	"P-256": {elliptic.P256(), 500_000},
	"P-384": {elliptic.P384(), 3_000_000},
	"P-521": {elliptic.P521(), 30_000_000},
}

var signatureHashes = map[string]crypto.Hash{
	"SHA-1": crypto.SHA1, "SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512,
}

// publicKey reads a public key and answers its SubjectPublicKeyInfo.
func (x *exchange) publicKey() uint64 {
	form, text := x.argString(0), x.argString(1)
	_, n := x.argRange(2)
	x.c.Spend(keyFuel + cryptoFuel*uint64(len(text)+int(n)))
	if len(text) > maxKey || n > maxKey {
		return x.undefined()
	}
	var key any
	if form == "jwk" {
		key = webKey(text)
	} else {
		key = parseKey(x.argBytes(2))
	}
	if key == nil {
		return x.undefined()
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return x.undefined()
	}
	return x.newBytes(der)
}

// keyKind answers "RSA", or the name of the curve.
func (x *exchange) keyKind() uint64 {
	x.c.Spend(keyFuel)
	switch key := parseKey(x.argBytes(0)).(type) {
	case *rsa.PublicKey:
		return x.newString("RSA")
	case *ecdsa.PublicKey:
		return x.newString(key.Params().Name)
	}
	return x.undefined()
}

// verify checks a signature: "1", or undefined.
func (x *exchange) verify() uint64 {
	name := x.argString(0)
	h := x.argHash(0)()
	x.feed(h, 3)
	sum, signature := h.Sum(nil), x.argBytes(2)
	valid := false
	switch key := parseKey(x.argBytes(1)).(type) {
	case *rsa.PublicKey:
		bits := uint64(key.N.BitLen())
		x.c.Spend(rsaFuel * bits * bits / (maxModulus * maxModulus))
		valid = rsa.VerifyPKCS1v15(key, signatureHashes[name], sum, signature) == nil
	case *ecdsa.PublicKey:
		x.c.Spend(curves[key.Params().Name].fuel)
		valid = verifyPair(key, sum, signature)
	}
	if !valid {
		return x.undefined()
	}
	return x.newString("1")
}

// verifyPair checks a signature of ECDSA in the form of IEEE P1363: both numbers,
// each as long as the curve's order.
func verifyPair(key *ecdsa.PublicKey, sum, signature []byte) bool {
	size := (key.Params().N.BitLen() + 7) / 8
	if len(signature) != 2*size {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
	return ecdsa.Verify(key, sum, r, s)
}

// parseKey reads SubjectPublicKeyInfo; nil if there is no key in it that is
// offered.
func parseKey(der []byte) any {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil
	}
	switch key := key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits >= minModulus && bits <= maxModulus {
			return key
		}
	case *ecdsa.PublicKey:
		if _, ok := curves[key.Params().Name]; ok {
			return key
		}
	}
	return nil
}

// webKey reads a JSON Web Key (RFC 7518 section 6).
func webKey(text string) any {
	var jwk struct{ Kty, N, E, Crv, X, Y string }
	if json.Unmarshal([]byte(text), &jwk) != nil {
		return nil
	}
	number := func(text string) *big.Int {
		b, _ := base64.RawURLEncoding.DecodeString(text)
		return new(big.Int).SetBytes(b)
	}
	switch jwk.Kty {
	case "RSA":
		n, e := number(jwk.N), number(jwk.E)
		if e.BitLen() > 31 || e.Int64() < 3 || n.BitLen() < minModulus || n.BitLen() > maxModulus {
			return nil
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}
	case "EC":
		curve, ok := curves[jwk.Crv]
		if !ok {
			return nil
		}
		size := (curve.Params().BitSize + 7) / 8
		x, errX := base64.RawURLEncoding.DecodeString(jwk.X)
		y, errY := base64.RawURLEncoding.DecodeString(jwk.Y)
		if errX != nil || errY != nil || len(x) != size || len(y) != size {
			return nil
		}
		point := append(append([]byte{4}, x...), y...)
		if key, err := ecdsa.ParseUncompressedPublicKey(curve.Curve, point); err == nil {
			return key
		}
	}
	return nil
}
