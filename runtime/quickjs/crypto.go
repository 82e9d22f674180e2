package quickjs

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"

	"armature/core/fault"
)

// cryptoFuel is what a byte costs that is hashed or encrypted: two nanoseconds,
// which is enough where the processor has instructions for it, and for SHA-512
// where it has none.
const cryptoFuel = 8

// cryptoPart is how much is hashed at a time, in bytes, before others may have
// their turn.
const cryptoPart = 256 << 10

// hashes are those of the Web Cryptography API.
var hashes = map[string]func() hash.Hash{
	"SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

// digest answers the hash of a Uint8Array.
func (x *exchange) digest() uint64 {
	h := x.argHash(0)()
	x.feed(h, 1)
	return x.newBytes(h.Sum(nil))
}

// hmac answers the authentication code of a Uint8Array under a key.
func (x *exchange) hmac() uint64 {
	ptr, n := x.argRange(1)
	x.c.Spend(cryptoFuel * uint64(n))
	h := hmac.New(x.argHash(0), x.c.Read(ptr, n))
	x.feed(h, 2)
	return x.newBytes(h.Sum(nil))
}

// equal compares two Uint8Arrays in a time that does not depend on what is in
// them, though it does on their lengths: "1", or undefined.
func (x *exchange) equal() uint64 {
	a, n := x.argRange(0)
	b, m := x.argRange(1)
	x.c.Spend(uint64(n))
	if n != m || subtle.ConstantTimeCompare(x.c.Read(a, n), x.c.Read(b, m)) != 1 {
		return x.undefined()
	}
	return x.newString("1")
}

func (x *exchange) argHash(i int) func() hash.Hash {
	name := x.argString(i)
	h := hashes[name]
	if h == nil {
		x.c.Abort(fault.New(fault.Trap, "", "The prelude asks for the hash %.40q", name))
	}
	return h
}

// feed has a hash read an argument, which is paid for part by part.
func (x *exchange) feed(h hash.Hash, i int) {
	ptr, n := x.argRange(i)
	for n > 0 {
		part := min(n, cryptoPart)
		x.c.Spend(cryptoFuel * uint64(part))
		h.Write(x.c.Read(ptr, part))
		ptr, n = ptr+part, n-part
	}
}
