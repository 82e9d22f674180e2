package site

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"sync"
)

// ErrSealed is returned by Open for text that this secret did not seal for this
// purpose.
var ErrSealed = errors.New("the sealed text was made with another key, for another purpose, or was changed")

// sealPrefix names the format: AES-256-GCM, nonce first, base64.
const sealPrefix = "v1."

// Secret is a site's key. Sealing and hashing use keys derived from it, so
// neither use can weaken the other. It may be used by many goroutines.
type Secret struct {
	seal cipher.AEAD
	macs *sync.Pool // of *macState
}

// NewSecret makes a secret of a key of 32 random bytes.
func NewSecret(key [keySize]byte) *Secret { return newSecret(key[:]) }

func newSecret(key []byte) *Secret {
	block, err := aes.NewCipher(derive(key, "armature seal"))
	if err != nil {
		panic(err) // derive returns 32 bytes
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has GCM's block size
	}
	mac := derive(key, "armature mac")
	return &Secret{seal: aead, macs: &sync.Pool{New: func() any {
		return &macState{hash: hmac.New(sha256.New, mac)}
	}}}
}

func derive(key []byte, info string) []byte {
	sub, err := hkdf.Expand(sha256.New, key, info, keySize)
	if err != nil {
		panic(err) // 32 bytes are within what HKDF gives
	}
	return sub
}

// Seal encrypts text for one purpose, such as "Connected App client_secret".
func (s *Secret) Seal(purpose string, text []byte) string {
	sealed := s.seal.Seal(nil, nil, text, []byte(purpose))
	return sealPrefix + base64.RawStdEncoding.EncodeToString(sealed)
}

// Open decrypts what Seal made for the same purpose; anything else is
// ErrSealed.
func (s *Secret) Open(purpose, sealed string) ([]byte, error) {
	if len(sealed) < len(sealPrefix) || sealed[:len(sealPrefix)] != sealPrefix {
		return nil, ErrSealed
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(sealed[len(sealPrefix):])
	if err != nil {
		return nil, ErrSealed
	}
	text, err := s.seal.Open(nil, nil, raw, []byte(purpose))
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}

// MAC is a keyed hash of text for one purpose, 32 bytes. Who does not hold the
// site's key can neither compute nor check it, so a stolen database does not
// allow guessing.
func (s *Secret) MAC(purpose, text string) []byte { return s.AppendMAC(nil, purpose, text) }

// AppendMAC appends the MAC of all parts of a text, one after the other.
func (s *Secret) AppendMAC(dst []byte, purpose string, parts ...string) []byte {
	m := s.macs.Get().(*macState)
	defer s.macs.Put(m)
	// The length keeps ("ab", "c") and ("a", "bc") apart.
	m.buf = append(m.buf[:0], byte(len(purpose)>>8), byte(len(purpose)))
	m.buf = append(m.buf, purpose...)
	for _, part := range parts {
		m.buf = append(m.buf, part...)
	}
	m.hash.Reset()
	m.hash.Write(m.buf)
	clear(m.buf)
	m.buf = m.hash.Sum(m.buf[:0])
	dst = append(dst, m.buf...)
	clear(m.buf)
	return dst
}

// macState is what a hash needs. Every request with an API key makes one, and
// setting up the key takes as long as hashing with it.
type macState struct {
	hash hash.Hash
	buf  []byte
}
