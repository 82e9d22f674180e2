package file

import (
	"context"
	"encoding/json"
	"net/http"

	"armature/core/identity"
	"armature/core/method"
)

// RunBy is a Config's Call that has methods run.
func RunBy(methods func() *method.Service) func(context.Context, *identity.Caller, MethodCall) (json.RawMessage, error) {
	return func(ctx context.Context, caller *identity.Caller, c MethodCall) (json.RawMessage, error) {
		return runOn(ctx, methods(), caller, c)
	}
}

// runOn runs a method on an uploaded file: the fields of the form are its
// arguments, the file is the body of its request.
func runOn(ctx context.Context, methods *method.Service, caller *identity.Caller, c MethodCall) (json.RawMessage, error) {
	args := make(map[string]any, len(c.Args)+1)
	for name, v := range c.Args {
		args[name] = v
	}
	args["file_name"] = c.Name
	res, err := methods.Run(ctx, method.Invocation{
		Path: c.Path, Verb: http.MethodPost, Caller: caller, Args: method.ArgsMap(args),
		Request: &method.Request{
			Method: http.MethodPost, Path: "/api/method/upload_file", Body: c.Body,
			Head: typed(c.ContentType),
		},
	})
	return res.Message, err
}

// typed is the head of a request of which no more is told.
type typed string

// Origin implements method.Head.
func (typed) Origin() string { return "" }

// Header implements method.Head.
func (t typed) Header() http.Header { return http.Header{"Content-Type": {string(t)}} }
