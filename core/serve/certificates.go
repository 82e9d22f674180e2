package serve

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"strings"

	"golang.org/x/crypto/acme/autocert"
)

// certificates is a folder of keys and certificates in which a damaged one counts
// as missing: it is made or asked for again. Without this a damaged key of the
// account would keep the server from ever having a certificate again.
type certificates struct{ autocert.Cache }

// Get implements autocert.Cache.
func (c certificates) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := c.Cache.Get(ctx, name)
	if err != nil || strings.HasSuffix(name, "+http-01") || strings.HasSuffix(name, "+token") {
		return data, err // those two are answers to challenges, and no keys
	}
	if key, _ := pem.Decode(data); key == nil || !isPrivateKey(key.Bytes) {
		return nil, autocert.ErrCacheMiss
	}
	return data, nil
}

func isPrivateKey(der []byte) bool {
	for _, parse := range []func([]byte) error{
		func(b []byte) error { _, err := x509.ParseECPrivateKey(b); return err },
		func(b []byte) error { _, err := x509.ParsePKCS1PrivateKey(b); return err },
		func(b []byte) error { _, err := x509.ParsePKCS8PrivateKey(b); return err },
	} {
		if parse(der) == nil {
			return true
		}
	}
	return false
}
