package quickjs

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"armature/runtime/abi"
)

// What the host takes for a byte of text that it looks at, and of one that it has
// to mend.
const (
	textFuel = 4
	mendFuel = 100
)

// random answers bytes of the host's, which the call's record keeps.
func (x *exchange) random() uint64 {
	n, err := strconv.ParseUint(x.argString(0), 10, 32)
	if err != nil {
		x.c.Abort(err)
	}
	ptr := x.room(int(n))
	x.host[abi.Random](x.c, []uint64{ptr, n})
	array := x.do("qjs_new_uint8_array", ptr, n) // a copy
	x.do("wasm_free", ptr)
	return array
}

// encode answers the UTF-8 of a text. Half a surrogate pair, which QuickJS writes
// as three bytes that are not UTF-8, becomes U+FFFD.
func (x *exchange) encode() uint64 {
	ptr, n := x.argText(0)
	x.c.Spend(textFuel * uint64(n))
	if text := x.c.Read(ptr, n); !utf8.Valid(text) {
		replaceSurrogates(text)
	}
	array := x.do("qjs_new_uint8_array", uint64(ptr), uint64(n))
	x.free(ptr)
	return array
}

// replaceSurrogates overwrites encoded surrogates by the encoding of U+FFFD, which
// is as long.
func replaceSurrogates(text []byte) {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == 0xED && text[i+1] >= 0xA0 {
			copy(text[i:], "\uFFFD")
		}
	}
}

// decode answers the text of a Uint8Array. Bytes that are not UTF-8 become U+FFFD,
// or make it undefined.
func (x *exchange) decode() uint64 {
	ptr, n := x.argRange(0)
	if n == 0 {
		return x.newString("")
	}
	x.c.Spend(textFuel * uint64(n))
	text := x.c.Read(ptr, n)
	if utf8.Valid(text) {
		return x.do("qjs_new_string", uint64(ptr), uint64(n))
	}
	if x.argString(1) == "fatal" {
		return x.undefined()
	}
	x.c.Spend(mendFuel * uint64(n))
	return x.newString(decodeUTF8(text))
}

// argRange is where the bytes of a Uint8Array argument lie. They stay there until
// the script runs again.
func (x *exchange) argRange(i int) (ptr, length uint32) {
	at := uint32(x.room(4))
	x.putUint32(at, 0)
	p := x.do("JS_GetUint8Array", x.do("qjs_get_context_ptr"), uint64(at), x.uint64(uint32(x.arg(i))))
	n := x.uint32(at)
	x.do("wasm_free", uint64(at))
	return uint32(p), n
}

// argBytes is a copy of a Uint8Array argument.
func (x *exchange) argBytes(i int) []byte {
	ptr, n := x.argRange(i)
	if n == 0 {
		return nil
	}
	return bytes.Clone(x.c.Read(ptr, n))
}

// newBytes is a Uint8Array.
func (x *exchange) newBytes(b []byte) uint64 {
	ptr := x.room(max(len(b), 1))
	x.c.Write(uint32(ptr), b)
	array := x.do("qjs_new_uint8_array", ptr, uint64(len(b))) // a copy
	x.do("wasm_free", ptr)
	return array
}

func (x *exchange) newString(s string) uint64 {
	ptr := x.text(s)
	handle := x.do("qjs_new_string", ptr, uint64(len(s)))
	x.do("wasm_free", ptr)
	return handle
}

// decodeUTF8 is text as the Encoding standard decodes it.
func decodeUTF8(text []byte) string {
	out, err := unicode.UTF8.NewDecoder().Bytes(text)
	if err != nil {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return string(out)
}
