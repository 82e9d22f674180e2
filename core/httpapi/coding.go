package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"armature/core/coding"
)

const (
	// leastCoded is how long an answer is, in bytes, that is sent compressed to who
	// reads that: a shorter one fits into one packet as it is.
	leastCoded = 1 << 10
	// mostWhole is how long one is that is compressed before it is sent; of longer
	// ones the parts go out as they come.
	mostWhole = 1 << 20
)

// revalidated is what a client may do with the answer to a GET: keep it for itself, and
// ask each time whether it is still right.
var revalidated = []string{"private, no-cache"}

// known gives the answer to a GET its ETag, and reports whether the client has just
// that answer. It is of the bytes that are sent and of nothing else: when a document
// was changed says nothing, because rights change answers, too. It is a weak one (RFC
// 9110, section 8.8.1), the same for every content coding.
func (x *exchange) known(body []byte) bool {
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		return false
	}
	sum := sha256.Sum256(body)
	var text [3 + 22 + 1]byte
	copy(text[:], `W/"`)
	base64.RawURLEncoding.Encode(text[3:], sum[:16])
	text[len(text)-1] = '"'
	tag := string(text[:])
	h := x.w.Header()
	h["Etag"] = []string{tag}
	h["Cache-Control"] = revalidated
	asked := x.r.Header["If-None-Match"]
	return len(asked) > 0 && matches(strings.Join(asked, ","), tag[2:])
}

// matches reads If-None-Match (RFC 9110, section 13.1.2). Weak and strong are the same
// there, and * is of what exists, which this answer does.
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}

// sendBody sends a complete answer in a form that the client reads. That its length
// tells of its content is of no use to a page elsewhere (BREACH): cookies are
// SameSite=Lax, so what such a page has a browser ask comes from nobody.
func (x *exchange) sendBody(status int, body []byte) {
	h := x.w.Header()
	how := ""
	if len(body) >= leastCoded {
		h["Vary"] = append(h["Vary"], "Accept-Encoding")
		how = coding.Best(x.r.Header.Get("Accept-Encoding"), coding.Zstd, coding.Gzip)
	}
	if how == "" {
		x.sendWhole(status, body)
		return
	}
	h["Content-Encoding"] = []string{how}
	if len(body) > mostWhole {
		x.w.paced = true
		x.w.WriteHeader(status)
		_ = coding.Write(&x.w, how, body) // as below
		return
	}
	var small bytes.Buffer
	small.Grow(len(body) / 4)
	_ = coding.Write(&small, how, body) // a buffer takes everything
	x.sendWhole(status, small.Bytes())
}

func (x *exchange) sendWhole(status int, body []byte) {
	x.length[0] = strconv.Itoa(len(body))
	x.w.Header()["Content-Length"] = x.length[:]
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // the client is gone; the work is done either way
}
