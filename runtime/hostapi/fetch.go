package hostapi

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/runtime/abi"
)

// Fetch makes one outgoing request of a plugin, within what the plugin and its
// site allow. Errors are faults: Permission for a host, method or address that
// is not allowed, Validation for a request that cannot be sent, TooLarge,
// Timeout, Unavailable.
type Fetch func(ctx context.Context, r *HTTPRequest) (*HTTPResponse, error)

// HTTPRequest is what a guest asks for.
type HTTPRequest struct {
	Method  string // empty: GET
	URL     string
	Header  http.Header
	Body    []byte
	Timeout time.Duration // 0: the server's
	MaxBody int64         // of the answer, in bytes
}

// HTTPResponse is the answer, whatever its status.
type HTTPResponse struct {
	Status int
	Header http.Header
	Body   []byte
}

// httpFetch asks another server.
func httpFetch(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	if st.plugin.Fetch == nil {
		return nil, missing(abi.HTTPFetch)
	}
	var in outgoing
	if err := decode(abi.HTTPFetch, request, &in); err != nil {
		return nil, err
	}
	return st.callOut(abi.HTTPFetch, dst, &in, func(r *HTTPRequest) (*HTTPResponse, error) { return st.plugin.Fetch(ctx, r) })
}

// outgoing is a request as a guest writes it.
type outgoing struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Base64  []byte            `json:"body_base64"`
	Timeout float64           `json:"timeout_ms"`
}

// callOut makes an outgoing request. It cannot be undone, so the call is not run
// a second time after it, and it must come before the transaction: nobody waits
// for a lock that waits for the network.
func (st *State) callOut(name string, dst []byte, in *outgoing, send func(*HTTPRequest) (*HTTPResponse, error)) ([]byte, error) {
	r, err := st.httpRequest(name, in)
	if err != nil {
		return nil, err
	}
	if st.transaction.begun {
		return nil, fault.Invalid("", "%s: the transaction has begun: call out before the first document call, or declare tx manual and call out before the first change", name)
	}
	if err := st.countFetch(name); err != nil {
		return nil, err
	}
	if st.call.Tx != nil { // a GET that has read keeps no connection while it waits
		if err := st.call.Tx.Pause(st.base); err != nil {
			return nil, err
		}
		st.call.Tx.SideEffects().Trial().Spend()
	}
	st.identify(r)
	answer, err := send(r)
	if err != nil {
		return nil, err
	}
	dst = appendResponse(dst, answer)
	if limit := st.limits.Input; len(dst) > limit {
		return nil, fault.New(fault.TooLarge, "", "%s: the answer is over %d bytes", name, limit)
	}
	return dst, nil
}

func (st *State) httpRequest(name string, in *outgoing) (*HTTPRequest, error) {
	if err := need(name, "url", in.URL); err != nil {
		return nil, err
	}
	if in.Timeout < 0 || in.Timeout > 60_000 {
		return nil, fault.New(fault.BadRequest, "", "%s: timeout_ms is not between 0 and 60000", name)
	}
	r := &HTTPRequest{
		Method: in.Method, URL: in.URL, Body: in.Base64, Header: make(http.Header, len(in.Headers)),
		Timeout: time.Duration(in.Timeout * float64(time.Millisecond)),
		MaxBody: int64(st.limits.Input),
	}
	if in.Body != "" {
		r.Body = []byte(in.Body)
	}
	for name, value := range in.Headers {
		r.Header[name] = []string{value}
	}
	return r, nil
}

// countFetch counts a request for the call and for those it is nested in, whose
// guests could otherwise ask without end by nesting.
func (st *State) countFetch(name string) error {
	for s := st; s != nil; s = s.outer {
		s.fetched++
		if s.fetched > s.limits.HTTP {
			return ending{fault.New(fault.Exhausted, "", "%s: more than %d requests", name, s.limits.HTTP)}
		}
	}
	return nil
}

// identify tells a server that a deferred call, which may be tried again, asks for the
// same thing (the header Idempotency-Key of draft-ietf-httpapi-idempotency-key-header),
// unless the guest does so itself.
func (st *State) identify(r *HTTPRequest) {
	if st.call.Key == "" {
		return
	}
	outermost := st
	for outermost.outer != nil {
		outermost = outermost.outer
	}
	for name := range r.Header {
		if strings.EqualFold(name, "Idempotency-Key") {
			return
		}
	}
	r.Header["Idempotency-Key"] = []string{st.call.Key + "-" + strconv.Itoa(outermost.fetched)}
}

func appendResponse(dst []byte, r *HTTPResponse) []byte {
	dst = append(dst, `{"status":`...)
	dst = strconv.AppendInt(dst, int64(r.Status), 10)
	dst = append(dst, `,"headers":{`...)
	for i, name := range slices.Sorted(maps.Keys(r.Header)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(doctype.AppendString(dst, strings.ToLower(name)), ':')
		dst = doctype.AppendString(dst, strings.ToValidUTF8(strings.Join(r.Header[name], ", "), "\uFFFD"))
	}
	dst = append(dst, `},"body`...)
	if utf8.Valid(r.Body) {
		dst = append(dst, `":`...)
		dst = doctype.AppendString(dst, string(r.Body))
	} else {
		dst = append(dst, `_base64":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, r.Body), '"')
	}
	return append(dst, '}')
}
