package httpapi

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// identify gives the request the id that a proxy or a client sent along, so that
// its log and ours can be read together, or one of ours.
func (x *exchange) identify() {
	if given := x.r.Header["X-Request-Id"]; len(given) == 1 && safeID(given[0]) {
		x.id = given[0]
	} else {
		x.id = newRequestID()
	}
	x.ids[0] = x.id
	h, id := x.w.Header(), x.ids[:]
	h["X-Request-Id"], h["X-Framework-Request-Id"] = id, id
}

// safeID reports whether an id from outside can stand in a header, a log or a
// page: 1 to 64 letters, digits, dots, hyphens and underscores, which a UUID and
// the ids of common proxies are.
func safeID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// newRequestID names a request in logs and answers. It needs to be distinct,
// not secret.
func newRequestID() string {
	var raw [12]byte
	binary.BigEndian.PutUint64(raw[:], rand.Uint64())
	binary.BigEndian.PutUint32(raw[8:], rand.Uint32())
	var text [2 * len(raw)]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
