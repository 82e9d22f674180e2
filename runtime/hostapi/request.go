package hostapi

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/method"
	"armature/runtime/abi"
)

// credentials are the header fields a guest never sees: it acts as the caller
// but must not be able to become one.
var credentials = []string{"Authorization", "Cookie", "Proxy-Authorization"}

// requestGet shows the HTTP request that made the call.
func requestGet(_ context.Context, st *State, dst, _ []byte) ([]byte, error) {
	r := st.call.Request
	if r == nil {
		return nil, noRequest()
	}
	member := func(name, value string) {
		dst = append(doctype.AppendString(dst, name), ':')
		dst = append(doctype.AppendString(dst, value), ',')
	}
	dst = append(dst, '{')
	member("method", r.Method)
	member("path", r.Path)
	member("query", r.RawQuery)
	if r.Route != "" {
		member("route", r.Route)
		member("base", r.Base)
	}
	dst = append(dst, `"headers":{`...)
	header := r.Header()
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if !slices.Contains(credentials, name) {
			member(strings.ToLower(name), strings.Join(header[name], ", "))
		}
	}
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	dst = append(dst, `},"body`...)
	if utf8.Valid(r.Body) {
		dst = append(dst, `":`...)
		dst = doctype.AppendString(dst, string(r.Body))
	} else {
		dst = append(dst, `_base64":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, r.Body), '"')
	}
	return append(dst, '}'), nil
}

func noRequest() error { return fault.Missing("No HTTP request made this call") }

// respond answers the request with the guest's own status, headers and body,
// once the method has succeeded.
func respond(_ context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Base64  []byte            `json:"body_base64"`
		HTML    string            `json:"html"`
	}
	if err := decode(abi.Respond, request, &in); err != nil {
		return nil, err
	}
	if st.call.Request == nil {
		return nil, noRequest()
	}
	if in.Status == 0 {
		in.Status = http.StatusOK
	}
	if in.Status < 200 || in.Status > 599 {
		return nil, fault.Invalid("", "%s: the status %d is not between 200 and 599", abi.Respond, in.Status)
	}
	header := make(http.Header, len(in.Headers))
	for name, value := range in.Headers {
		if !answerable(strings.ToLower(name)) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, fault.Invalid("", "%s: the header %s is not one a plugin may set, or its value not one a header has", abi.Respond, name)
		}
		header.Set(name, value)
	}
	body := in.Base64
	switch {
	case in.Body != "":
		body = []byte(in.Body)
	case in.HTML != "":
		body = []byte(in.HTML)
		header.Set("Content-Type", "text/html; charset=utf-8")
	}
	st.call.Reply = &method.Reply{Status: in.Status, Header: header, Body: body}
	return append(dst, "null"...), nil
}

// answerable reports whether a plugin may set the header: nothing by which a
// browser decides about other pages of the site.
func answerable(name string) bool {
	switch name {
	case "content-type", "content-disposition", "cache-control", "location", "etag", "last-modified":
		return true
	}
	rest, ok := strings.CutPrefix(name, "x-")
	return ok && rest != "" && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.HasPrefix(rest, "ratelimit-") && !strings.HasPrefix(rest, "framework-")
}
