package method

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// OnDocument is one request to run a method of a document (reference section
// 1.7).
type OnDocument struct {
	DocType string
	Name    string
	Method  string
	Verb    string
	Caller  *identity.Caller
	Args    Args
	Request *Request
}

// RunOnDocument runs a method of one document, in a transaction by the verb as
// Run does. A verb that only reads needs the right to read the document, any
// other the right to write it.
//
// Errors: those of reading the document; PermissionError for a method that is
// not whitelisted, Missing for one that no document has.
func (s *Service) RunOnDocument(ctx context.Context, in OnDocument) (Result, error) {
	m := &Method{
		Path: in.DocType + "." + in.Method, Writes: documentMethods[in.Method] != nil,
		Func: func(ctx context.Context, call *Call) (any, error) {
			got, err := call.onDocument(ctx, in.DocType, in.Name, in.Method, &documentCall{args: call.Args})
			if err != nil || got.value != nil {
				return got.value, err
			}
			return call.document(got.doc, nil)
		},
	}
	inv := Invocation{Path: m.Path, Verb: in.Verb, Caller: in.Caller, Args: in.Args, Request: in.Request}
	return (&run{service: s, found: found{method: m}, in: inv}).byVerb(ctx)
}

// documentCall is what a document's method is called with.
type documentCall struct {
	doc    *doctype.Document // as stored
	edited map[string]any    // values that the client has changed and not saved, or nil
	args   Args
}

// outcome is what a document's method leaves: the document, and its result
// where that is not the document.
type outcome struct {
	doc   *doctype.Document
	value any
}

// DocumentMethod is a method that the documents of one DocType have, which acts
// in transactions of its own and may wait for the network: it commits whatever
// the verb, checks the caller's rights itself, and cannot be called from within
// another method, whose transaction would be waiting for it.
type DocumentMethod struct {
	DocType, Name string
	// Verbs are those it may be called with; nil: any. What a page of another site
	// must not make a browser do by following a link leaves out GET.
	Verbs []string
	Func  func(ctx context.Context, on *DocumentCall) (result any, err error)
}

// DocumentCall is one call of a DocumentMethod.
type DocumentCall struct {
	Document string // its name
	Caller   *identity.Caller
	Args     Args
	Request  *Request // nil when no HTTP request started the call
}

// own finds a method that only documents of this DocType have, which is the
// platform's and none of the site's own.
func (s *Service) own(typeName, method string) *DocumentMethod {
	if _, err := s.documents.Schema().Platform(typeName); err != nil {
		return nil
	}
	for i := range s.onDocuments {
		if m := &s.onDocuments[i]; m.DocType == typeName && m.Name == method {
			return m
		}
	}
	return nil
}

func (c *Call) runOwn(ctx context.Context, m *DocumentMethod, name string, args Args) (outcome, error) {
	if c.Depth > 0 {
		return outcome{}, fault.Invalid("", "%s of %s commits by itself and cannot be called from within another method", m.Name, m.DocType)
	}
	if m.Verbs != nil && !slices.Contains(m.Verbs, c.Verb) {
		return outcome{}, wrongVerb(m.Name, m.Verbs)
	}
	if r := document.RehearsalOf(ctx); r != nil {
		return outcome{}, refuseRehearsal(r, m.DocType+"."+m.Name)
	}
	value, err := m.Func(ctx, &DocumentCall{Document: name, Caller: c.Caller, Args: args, Request: c.Request})
	return outcome{value: value}, err
}

type documentMethod func(ctx context.Context, c *Call, on *documentCall) (outcome, error)

// documentMethods are the whitelisted methods that every document has.
var documentMethods = map[string]documentMethod{
	"submit":      setDocstatus("1"),
	"cancel":      setDocstatus("2"),
	"discard":     discardDocument,
	"rename":      renameDocument,
	"add_comment": commentDocument,
}

func setDocstatus(n json.Number) documentMethod {
	return func(ctx context.Context, c *Call, on *documentCall) (outcome, error) {
		values := make(map[string]any, len(on.edited)+1)
		maps.Copy(values, on.edited)
		values["docstatus"] = n
		doc, err := c.Documents.As(c.Caller, c.Tx).Update(ctx, on.doc.Type.Name, on.doc.Name(), values)
		return outcome{doc: doc}, err
	}
}

func discardDocument(ctx context.Context, c *Call, on *documentCall) (outcome, error) {
	doc, err := c.Documents.As(c.Caller, c.Tx).Discard(ctx, on.doc.Type.Name, on.doc.Name())
	return outcome{doc: doc}, err
}

// renameDocument answers with the new name.
func renameDocument(ctx context.Context, c *Call, on *documentCall) (outcome, error) {
	name, err := on.args.Need("name")
	if err != nil {
		return outcome{}, err
	}
	merge := query.Flag(on.args.Get("merge"), false)
	doc, err := c.Documents.As(c.Caller, c.Tx).Rename(ctx, on.doc.Type.Name, on.doc.Name(), name, merge)
	if err != nil {
		return outcome{}, err
	}
	return outcome{doc, doc.Name()}, nil
}

// commentDocument answers with the comment.
func commentDocument(ctx context.Context, c *Call, on *documentCall) (outcome, error) {
	comment, err := c.Documents.As(c.Caller, c.Tx).AddComment(ctx, on.doc.Type.Name, on.doc.Name(),
		on.args.Text("comment_type"), on.args.Text("text"))
	if err != nil {
		return outcome{}, err
	}
	value, err := c.document(comment, nil)
	return outcome{on.doc, value}, err
}

// onDocument checks the right to the document before it says anything about the
// method.
func (c *Call) onDocument(ctx context.Context, typeName, name, method string, on *documentCall) (outcome, error) {
	if m := c.Methods.own(typeName, method); m != nil {
		return c.runOwn(ctx, m, name, on.args)
	}
	right := access.Read
	if !Reads(c.Verb) {
		right = access.Write
	}
	var err error
	if on.doc, err = c.Documents.As(c.Caller, c.Tx).Demand(ctx, typeName, name, right); err != nil {
		return outcome{}, err
	}
	fn := documentMethods[method]
	switch {
	case fn != nil:
		return fn(ctx, c, on)
	case isInternal(method):
		return outcome{}, notWhitelisted(method)
	}
	return outcome{}, fault.Missing("%s has no method %s", typeName, method)
}

// isInternal reports whether documents have such a method that is not for
// clients: events, and the changes that have endpoints of their own.
func isInternal(method string) bool {
	switch method {
	case "save", "insert", "delete", "update", "validate", "get", "reload", "db_set":
		return true
	}
	for _, prefix := range []string{"before_", "after_", "on_", "_"} {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}

// runDocMethod is run_doc_method (reference section 4.2): the document is named
// by dt and dn, or given as docs in the state of an edited form.
func runDocMethod(ctx context.Context, call *Call) (any, error) {
	method, err := call.Args.Need("method")
	if err != nil {
		return nil, err
	}
	on := &documentCall{}
	typeName, name := call.Args.Text("dt"), call.Args.Text("dn")
	if call.Args.Get("docs") != nil {
		if on.edited, err = call.Args.object("docs"); err != nil {
			return nil, err
		}
		typeName, name = textOf(on.edited["doctype"]), textOf(on.edited["name"])
	}
	if typeName == "" {
		return nil, fault.Invalid("TypeError", "Missing required argument: dt")
	}
	if name == "" {
		name = typeName // a Single
	}
	if args, _ := call.Args.structured("args"); args != nil { // plain text is no arguments by name
		named, _ := args.(map[string]any)
		on.args = ArgsMap(named)
	}
	got, err := call.onDocument(ctx, typeName, name, method, on)
	if err != nil || got.doc == nil {
		return got.value, err
	}
	doc, err := call.document(got.doc, nil)
	call.Extra = map[string]any{"docs": []any{doc}}
	return got.value, err
}
