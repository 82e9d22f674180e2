package method

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
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
			return call.onDocument(ctx, in.DocType, in.Name, in.Method, nil)
		},
	}
	inv := Invocation{Path: m.Path, Verb: in.Verb, Caller: in.Caller, Args: in.Args, Request: in.Request}
	return (&run{service: s, found: found{method: m}, in: inv}).byVerb(ctx)
}

// documentMethod runs for a document; edited holds values that the client has
// changed and not saved, or nil.
type documentMethod func(ctx context.Context, c *Call, doctype, name string, edited map[string]any) (*document.Document, error)

// documentMethods are the whitelisted methods that every document has.
var documentMethods = map[string]documentMethod{
	"submit": setDocstatus("1"),
	"cancel": setDocstatus("2"),
}

func setDocstatus(n json.Number) documentMethod {
	return func(ctx context.Context, c *Call, doctype, name string, edited map[string]any) (*document.Document, error) {
		values := make(map[string]any, len(edited)+1)
		maps.Copy(values, edited)
		values["docstatus"] = n
		return c.Documents.Update(ctx, c.Tx, c.Caller, doctype, name, values)
	}
}

// onDocument checks the right to the document before it says anything about the
// method.
func (c *Call) onDocument(ctx context.Context, doctype, name, method string, edited map[string]any) (any, error) {
	if _, err := c.Documents.Get(ctx, c.Tx, c.Caller, doctype, name); err != nil {
		return nil, err
	}
	if !Reads(c.Verb) {
		x, err := c.Documents.Explain(ctx, c.Tx, c.Caller, doctype, name, permission.Write)
		if err != nil {
			return nil, err
		}
		if !x.Allowed {
			return nil, fault.Denied("User %s does not have write access to %s %s", c.Caller.User, doctype, name)
		}
	}
	fn := documentMethods[method]
	switch {
	case fn != nil:
		return c.document(fn(ctx, c, doctype, name, edited))
	case isInternal(method):
		return nil, notWhitelisted(method)
	}
	return nil, fault.Missing("%s has no method %s", doctype, method)
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
	doctype, name := call.Args.Text("dt"), call.Args.Text("dn")
	var edited map[string]any
	if call.Args.Get("docs") != nil {
		if edited, err = call.Args.object("docs"); err != nil {
			return nil, err
		}
		doctype, name = textOf(edited["doctype"]), textOf(edited["name"])
	}
	if doctype == "" {
		return nil, fault.Invalid("TypeError", "Missing required argument: dt")
	}
	if name == "" {
		name = doctype // a Single
	}
	doc, err := call.onDocument(ctx, doctype, name, method, edited)
	if err != nil {
		return nil, err
	}
	call.Extra = map[string]any{"docs": []any{doc}}
	return nil, nil
}
