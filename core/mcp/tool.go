package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/fault"
	"armature/core/method"
)

// tool is one thing that an agent can ask for.
type tool struct {
	name, about string
	schema      string // JSON Schema of the arguments
	needs       []string
	takes       []string // beside those it needs
	reads       bool     // nothing changes, whatever the arguments
	adds        bool     // it changes nothing that is there
	run         func(ctx context.Context, c *call, args method.Args) (*result, error)
}

// result is what a tool answers.
type result struct {
	raw   []byte   // a JSON object
	notes []string // what the user is told beside it
	links []link   // where what was cut is whole
}

type link struct{ uri, name string }

// shown is the tool as tools/list shows it.
func (t *tool) shown() *sdk.Tool {
	destructive := !t.reads && !t.adds
	closed := false
	return &sdk.Tool{
		Name: t.name, Description: t.about, InputSchema: json.RawMessage(t.schema),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.reads, DestructiveHint: &destructive, OpenWorldHint: &closed},
	}
}

// toolHandler calls a tool with what an agent has sent.
func (s *Service) toolHandler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := callOf(ctx)
		res, err := s.call(c, t, req.Params.Arguments, agentOf(req))
		if err != nil {
			if asked := elicitation(req, err); asked != nil {
				c.failed = fault.From(err).ExcType()
				return asked, nil
			}
			return s.refusal(c, t, err), nil
		}
		return res.shown(), nil
	}
}

// call runs a tool with the context of the request: it ends when the agent leaves.
func (s *Service) call(c *call, t *tool, text []byte, agent string) (*result, error) {
	if string(text) == "null" {
		text = nil // as clients send no arguments
	}
	args, err := method.ArgsJSON(text)
	if err != nil {
		return nil, err
	}
	if err := t.check(args); err != nil {
		return nil, err
	}
	ctx := c.r.Context()
	guards, err := s.c.Confirms(ctx, c.route.Caller)
	switch {
	case err != nil:
		return nil, err
	case guards:
		return s.guarded(ctx, c, t, args, agent)
	}
	return t.run(ctx, c, args)
}

// check refuses arguments that a tool does not have: who has misspelt one is told so,
// and not answered as if it were absent.
func (t *tool) check(args method.Args) error {
	given := args.Map()
	for _, name := range t.needs {
		if given[name] == nil || given[name] == "" {
			return fault.Invalid("TypeError", "Missing required argument: %s", name)
		}
	}
	if t.takes == nil && t.needs == nil {
		return nil
	}
	for name := range given {
		if !slices.Contains(t.needs, name) && !slices.Contains(t.takes, name) {
			return fault.Invalid("TypeError", "%s has no argument %s", t.name, name)
		}
	}
	return nil
}

func (r *result) shown() *sdk.CallToolResult {
	// Clients that know nothing of structuredContent read the same as text.
	content := []sdk.Content{&sdk.TextContent{Text: string(r.raw)}}
	for _, note := range r.notes {
		content = append(content, &sdk.TextContent{Text: note})
	}
	for _, l := range r.links {
		content = append(content, &sdk.ResourceLink{URI: l.uri, Name: l.name})
	}
	return &sdk.CallToolResult{Content: content, StructuredContent: json.RawMessage(r.raw)}
}

// around is what every message passes. A panic is a bug of ours, and not the end of
// the server: the SDK calls handlers in goroutines of its own.
func (s *Service) around(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, name string, req sdk.Request) (res sdk.Result, err error) {
		if name == "tools/call" || name == "resources/read" {
			defer func() { s.called(ctx, req, res, err) }()
		}
		defer func() {
			if p := recover(); p != nil {
				s.log.ErrorContext(ctx, "an MCP message failed", "method", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Something went wrong on the server"}
			}
		}()
		switch name {
		case "tools/list":
			return s.listTools(ctx, next, req)
		case "tools/call":
			if call, ok := req.(*sdk.CallToolRequest); ok {
				if t := s.named(ctx, call.Params.Name); t != nil {
					return s.toolHandler(t)(ctx, call)
				}
			}
		}
		return next(ctx, name, req)
	}
}

// refusal is the answer to a call that fails: what happened, as REST says it, and what
// to call next.
func (s *Service) refusal(c *call, t *tool, err error) *sdk.CallToolResult {
	e := fault.From(err)
	c.failed = e.ExcType()
	var scoped interface{ NeededScope() string }
	if e.Kind == fault.Permission && errors.As(err, &scoped) {
		c.needed = scoped.NeededScope()
	}
	if e.Kind == fault.Internal {
		s.log.ErrorContext(c.r.Context(), "an MCP tool failed", "id", c.route.RequestID, "tool", t.name, "user", c.route.Caller.User, "error", err)
	}
	said := map[string]any{"exc_type": e.ExcType(), "message": e.Message, "status": e.Status()}
	if c.needed != "" {
		said["scope"] = c.needed
	}
	var w *waiting
	if errors.As(err, &w) {
		said["url"], said["would"] = w.url, s.would(c, w)
	}
	if next := nextCall(e, t); next != "" {
		said["next"] = next
	}
	raw, _ := json.Marshal(said) // texts and a number
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw)}
}

// nextCall is what helps after an error.
func nextCall(e *fault.Error, t *tool) string {
	switch {
	case e.ExcType() == "ConfirmationRequiredError":
		return "Ask the user to open url, and to confirm there. Then call " + t.name + " again with the same arguments."
	case e.ExcType() == "TypeError":
		return "Call " + t.name + " again with the arguments that tools/list shows."
	case e.ExcType() == "TimestampMismatchError":
		return "Call read: the document has changed meanwhile. Then call " + t.name + " again."
	case t.name == "call_method" || t.name == "query_method":
		if e.Kind != fault.NotFound && e.Kind != fault.Validation {
			return ""
		}
		return `Call describe with {"list": "methods"}.`
	case e.Kind == fault.NotFound && t.name != "describe":
		return "Call search or list to find the name of the document, or describe without arguments for the DocTypes there are."
	case e.Kind == fault.NotFound:
		return "Call describe without arguments for the DocTypes there are."
	case e.Kind == fault.Validation || e.Kind == fault.Conflict:
		return "Call describe with the doctype for its fields and what they may hold."
	case e.Kind == fault.TooManyRequests || e.Kind == fault.Unavailable:
		return "Wait a moment, then call " + t.name + " again."
	}
	return ""
}
