package quickjs

import (
	"crypto/aes"
	"crypto/cipher"
)

// sealFuel is what it costs to set a cipher up.
const sealFuel = 20_000

// gcm makes the cipher of AES-GCM of the arguments key and nonce, and reads the
// latter and the additional data. The prelude lets no other lengths pass; nil is
// for those it might.
func (x *exchange) gcm() (c cipher.AEAD, nonce, additional []byte) {
	key, nonce, additional := x.argBytes(0), x.argBytes(1), x.argBytes(2)
	x.c.Spend(sealFuel + cryptoFuel*uint64(len(nonce)+len(additional)))
	block, err := aes.NewCipher(key)
	if err != nil || len(nonce) == 0 {
		return nil, nil, nil
	}
	if c, err = cipher.NewGCMWithNonceSize(block, len(nonce)); err != nil {
		return nil, nil, nil
	}
	return c, nonce, additional
}

// seal encrypts by AES-GCM with a tag of 128 bits.
func (x *exchange) seal() uint64 {
	c, nonce, additional := x.gcm()
	if c == nil {
		return x.undefined()
	}
	ptr, n := x.argRange(3)
	x.c.Spend(cryptoFuel * uint64(n))
	return x.newBytes(c.Seal(nil, nonce, x.c.Read(ptr, n), additional))
}

// open decrypts what seal has encrypted.
func (x *exchange) open() uint64 {
	c, nonce, additional := x.gcm()
	if c == nil {
		return x.undefined()
	}
	ptr, n := x.argRange(3)
	x.c.Spend(cryptoFuel * uint64(n))
	text, err := c.Open(nil, nonce, x.c.Read(ptr, n), additional)
	if err != nil {
		return x.undefined()
	}
	return x.newBytes(text)
}
