package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"armature/core/fault"
)

// agents is where the MCP server is, and agentsMethod the name by which budgets and
// limits on calls know it: it is one endpoint, whatever is asked for there.
const (
	agents       = "/mcp"
	agentsMethod = "mcp"
)

// kind is what a path leads to.
type kind uint8

const (
	page        kind = iota // anything outside /api, and /api/docs
	noAPI                   // an unknown path under /api
	collection              // /api/resource/:doctype
	single                  // /api/resource/:doctype/:name
	command                 // /api/method/:path
	description             // /api/openapi.json
	changes                 // /api/live
)

// String is the kind as metrics name it.
func (k kind) String() string {
	switch k {
	case page:
		return "page"
	case collection:
		return "list"
	case single:
		return "document"
	case command:
		return "method"
	case description:
		return "openapi"
	case changes:
		return "live"
	}
	return "none"
}

// target is what a path leads to. Its parts are still escaped: a name may hold any
// character, a slash too.
type target struct {
	kind    kind
	doctype string
	name    string
	method  string
}

// api reports whether the answer is JSON whatever happens.
func (rt target) api() bool { return rt.kind != page }

// parseTarget splits an escaped path. A trailing slash is optional, /api/v1 is
// /api, and of a method's path only the first segment counts (reference
// sections 0.1 and 4.1).
func parseTarget(escaped string) target {
	rest, ok := strings.CutPrefix(escaped, "/api")
	if !ok || rest != "" && rest[0] != '/' {
		return target{kind: page}
	}
	if v1, ok := strings.CutPrefix(rest, "/v1/"); ok {
		rest = "/" + v1
	}
	if rest == "/docs" {
		return target{kind: page} // for people
	}
	if rest == "/openapi.json" {
		return target{kind: description}
	}
	if rest == "/live" {
		return target{kind: changes}
	}
	if path, ok := strings.CutPrefix(rest, "/method/"); ok {
		segment, _, _ := strings.Cut(path, "/")
		if segment != "" {
			return target{kind: command, method: segment}
		}
	}
	if path, ok := strings.CutPrefix(rest, "/resource/"); ok {
		doctype, name, _ := strings.Cut(strings.TrimSuffix(path, "/"), "/")
		switch {
		case doctype == "":
		case name == "":
			return target{kind: collection, doctype: doctype}
		default:
			return target{kind: single, doctype: doctype, name: name}
		}
	}
	return target{kind: noAPI}
}

// decode unescapes the parts of the route.
func (rt *target) decode() error {
	for _, part := range []*string{&rt.doctype, &rt.name, &rt.method} {
		text, err := url.PathUnescape(*part)
		if err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fault.Invalid("DataError", "Invalid path")
		}
		*part = text
	}
	return nil
}

// handler finds what serves the route; raw methods are found before the
// credentials are looked at, since some read them in their own way.
func (x *exchange) handler() (func() error, error) {
	if err := x.route.decode(); err != nil {
		return nil, err
	}
	if x.app != nil {
		return x.answerApp, nil
	}
	switch x.route.kind {
	case collection:
		return x.collection()
	case single:
		return x.single()
	case command:
		return x.command(x.route.method)
	case description:
		return x.description()
	case changes:
		return x.live()
	case noAPI:
		return nil, errNoRoute
	}
	if x.r.URL.Path == agents {
		x.path = agentsMethod
	}
	if x.route.kind == page && x.r.URL.Path == "/" {
		if x.r.ContentLength < 0 || x.r.ContentLength > x.maxBody() {
			if err := x.authenticate(); err != nil { // the method is named in what may be read only then
				return nil, err
			}
		}
		name, err := x.oldCommand()
		if err != nil {
			return nil, err
		}
		if name != "" {
			x.route = target{kind: command, method: name}
			return x.command(name)
		}
	}
	return x.page()
}

// errNoRoute is the answer to an unknown path under /api: the type and nothing
// else.
var errNoRoute = fault.New(fault.NotFound, "", "")

func (x *exchange) collection() (func() error, error) {
	switch x.verb() {
	case http.MethodGet:
		return x.list, nil
	case http.MethodPost:
		return x.create, nil
	}
	return nil, x.wrongVerb("GET, HEAD, POST, OPTIONS")
}

func (x *exchange) single() (func() error, error) {
	switch x.verb() {
	case http.MethodGet:
		return x.read, nil
	case http.MethodPut:
		return x.update, nil
	case http.MethodDelete:
		return x.remove, nil
	case http.MethodPost:
		return x.runDocumentMethod, nil
	}
	return nil, x.wrongVerb("GET, HEAD, POST, PUT, DELETE, OPTIONS")
}

func (x *exchange) wrongVerb(allowed string) error {
	x.w.Header().Set("Allow", allowed)
	return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", x.r.Method)
}

// page serves what lies outside /api.
func (x *exchange) page() (func() error, error) {
	if x.site.Pages == nil {
		return nil, fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")
	}
	return func() error { return x.site.Pages(&x.w, x.request(), x.call()) }, nil
}
