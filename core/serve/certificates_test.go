package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/acme/autocert"
)

func TestDamagedCertificatesAreMissing(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	whole := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	other := bytes.Clone(whole)
	copy(other[31:], "AAAA") // where it says what it is
	tests := []struct {
		name, file string
		text       []byte
		there      bool
	}{
		{"whole", "acme_account+key", whole, true},
		{"a certificate's", "example.org", whole, true},
		{"a challenge", "example.org+http-01", []byte("token.thumb"), true},
		{"empty", "acme_account+key", nil, false},
		{"half", "acme_account+key", whole[:len(whole)/2], false},
		{"zeros", "acme_account+key", make([]byte, len(whole)), false},
		{"changed", "acme_account+key", other, false},
		{"half a certificate's", "example.org", whole[:len(whole)/2], false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tt.file), tt.text, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := certificates{autocert.DirCache(dir)}.Get(context.Background(), tt.file)
			if tt.there && (err != nil || !bytes.Equal(got, tt.text)) || !tt.there && !errors.Is(err, autocert.ErrCacheMiss) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
