package quickjs

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"armature/runtime/abi"
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
	at := x.room(4)
	ptr := x.do("JS_GetUint8Array", x.do("qjs_get_context_ptr"), at, x.uint64(uint32(x.arg(0))))
	n := x.uint32(uint32(at))
	x.do("wasm_free", at)
	if n == 0 {
		return x.do("qjs_new_string", at, 0)
	}
	text := x.c.Read(uint32(ptr), n)
	if utf8.Valid(text) {
		return x.do("qjs_new_string", ptr, uint64(n))
	}
	if x.argString(1) == "fatal" {
		return x.undefined()
	}
	return x.newString(decodeUTF8(text))
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
