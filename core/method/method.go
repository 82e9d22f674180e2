// Package method runs whitelisted methods: it finds what a dotted path names,
// applies the rules of who may call it with which verb, opens the transaction
// around the call and ends it by the verb.
//
// A method is either one of the platform's own, registered in a Table, or a
// plugin's, reached through an Invoker. Both are the same type Method.
package method

import (
	"context"
	"encoding/json"
	"net/http"

	"armature/core/document"
	"armature/core/identity"
)

// Method is one whitelisted dotted path.
type Method struct {
	Path       string
	Verbs      []string // allowed HTTP verbs; nil: GET, POST, PUT, DELETE
	AllowGuest bool
	Roles      []string // one of which the caller needs; nil: any
	Writes     bool     // it writes, so a GET takes the writer (and is rolled back)
	AnyScope   bool     // a narrowed caller may call it without a method: scope

	// Plugin is whose method it is; empty: the platform's own, which has a Tier.
	// No wildcard of a plugin's grants covers a plugin's method that is Powerful:
	// whose plugin may pass roles by, or reaches the platform.
	Plugin   string
	Tier     Tier
	Powerful bool

	// What the description of the API says of it; all may be empty.
	Description  string
	ArgsSchema   json.RawMessage // JSON Schema of the arguments
	ResultSchema json.RawMessage // JSON Schema of the result

	// Func runs the method. A nil result means none: the answer has no
	// "message". A json.RawMessage is sent as it is.
	Func func(ctx context.Context, call *Call) (result any, err error)

	habit document.ViewHistory // of its GET calls
}

// Tier is how a plugin comes to one of the platform's own methods. A Table takes
// none that does not say.
type Tier uint8

// The tiers.
const (
	_           Tier = iota
	Ordinary         // it reaches documents alone, by the rights on them: a wildcard of a plugin's grants covers it
	Named            // it is part of the platform: a grant covers it that names it
	Credentials      // it makes or shows credentials: such a grant, and platform
)

// Call is one call of a method.
type Call struct {
	Method *Method
	Verb   string // the HTTP verb of the request that started it
	Caller *identity.Caller
	Tx     document.Tx // the request's transaction, or a reader for GET
	Args   Args

	Documents *document.Service
	Methods   *Service
	Request   *Request // nil when no HTTP request started the call
	Parent    *Call    // the call this one is nested in
	Depth     int      // how many calls it is nested in

	// Key is set where the call was deferred: it is the same in each attempt, and tells
	// others that they are asked for the same thing. Empty: a request made the call.
	Key string

	// PluginCall is the state of the WebAssembly call this call belongs to: fuel,
	// deadline and admission are inherited by nested calls. Only runtime/hostapi
	// and plugins/dispatch know what it is.
	PluginCall any

	// Extra holds other top-level keys of the answer, beside "message".
	Extra map[string]any
	// Reply, when set, is the whole answer instead of {"message": result}.
	Reply *Reply

	pin    Pin  // the generation the method belongs to; nil for the platform's own
	reader bool // Tx is a view: savepoints mean nothing in it
}

// Reply is an answer whose status, headers and body the method chose itself.
// It is sent only when the call succeeds.
type Reply struct {
	Status int // 0: 200
	Header http.Header
	Body   []byte
}

// Request is what a method may see of the HTTP request.
type Request struct {
	ID         string // request id, for logs
	Method     string
	Path       string
	RawQuery   string
	Body       []byte
	RemoteAddr string
	Head       Head // nil: neither origin nor header is known

	// Route is the route of a plugin by which the request came, and Base the path where
	// the plugin's pages begin; empty where it came by the method's own path.
	Route, Base string
}

// Head is what else a method may see of a request. Few ask for it, so it is put
// together when they do.
type Head interface {
	Origin() string      // scheme and host the client used
	Header() http.Header // without credentials; not to be changed
}

// Origin is the scheme and host the client used; empty when not known.
func (r *Request) Origin() string {
	if r.Head == nil {
		return ""
	}
	return r.Head.Origin()
}

// Header is the request's header without its credentials. It must not be changed.
func (r *Request) Header() http.Header {
	if r.Head == nil {
		return nil
	}
	return r.Head.Header()
}

// Invoker finds plugins' methods on one site. plugins/dispatch satisfies it.
type Invoker interface {
	// Pin returns the method serving path and holds the generation it belongs
	// to until Release is called, so that a call and what it nests see one
	// version. known tells an export that no manifest lists apart from a path
	// that nothing has.
	Pin(path string) (m *Method, pin Pin, known bool)
}

// Pin holds a generation. A Pin that is an Invoker too is asked first for the
// methods a call nests, so that they come from the generation the call began in.
type Pin interface{ Release() }
