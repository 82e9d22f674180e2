package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/document"
	"armature/core/identity"
)

// Called is a call that an agent has made, as the Activity Log keeps it.
type Called struct {
	Caller  *identity.Caller
	Subject string // a sentence for people
	Details string // a JSON object: tool, arguments, agent, exc_type
	Refused bool
}

// called keeps what was asked for and how it ended. A log that cannot be written to
// fails nobody's call, which has happened by then; the server's own log has it instead,
// without the arguments.
func (s *Service) called(ctx context.Context, req sdk.Request, res sdk.Result, err error) {
	if s.c.Record == nil {
		return
	}
	c := callOf(ctx)
	details := map[string]any{}
	var what string
	switch p := req.GetParams().(type) {
	case *sdk.CallToolParamsRaw:
		arguments := s.maskedJSON(p.Arguments)
		what, details["tool"], details["arguments"] = p.Name, cutAt(p.Name, maskedText), arguments
		if given, ok := arguments.(map[string]any); ok {
			for _, name := range []string{"doctype", "method", "name"} {
				if text, ok := given[name].(string); ok {
					what += " " + text
				}
			}
		}
	case *sdk.ReadResourceParams:
		what, details["resource"] = "read "+p.URI, cutAt(p.URI, maskedText)
	default:
		return
	}
	if agent := agentOf(req); agent != "" {
		details["agent"] = agent
	}
	refused := err != nil || c.failed != ""
	if r, ok := res.(*sdk.CallToolResult); ok && r != nil && r.IsError {
		refused = true
	}
	subject := "An agent called "
	if refused {
		subject = "An agent was refused "
	}
	switch {
	case c.failed != "":
		details["exc_type"] = c.failed
	case err != nil:
		details["error"] = cutAt(err.Error(), maskedText)
	}
	text, failure := json.Marshal(details)
	if failure == nil && len(text) > maxDetails {
		details["arguments"] = cutAt(string(text), maskedText)
		text, failure = json.Marshal(details)
	}
	if failure == nil {
		// The agent may have left by now: what it has done is kept all the same.
		ctx = context.WithoutCancel(c.r.Context())
		failure = s.c.Store.Write(ctx, document.OneWrite, func(tx document.Tx) error {
			return s.c.Record(ctx, tx, Called{Caller: c.route.Caller, Subject: subject + what, Details: string(text), Refused: refused})
		})
	}
	if failure != nil {
		s.log.ErrorContext(ctx, "a call of an agent is not in the Activity Log", "id", c.route.RequestID, "user", c.route.Caller.User, "client", c.route.Caller.Client, "refused", refused, "error", failure)
	}
}

// agentOf is what the program says it is: nobody has checked it.
func agentOf(req sdk.Request) string {
	info, ok := req.(interface{ ClientInfo() *sdk.Implementation })
	if !ok || info.ClientInfo() == nil {
		return ""
	}
	return cutAt(strings.TrimSpace(info.ClientInfo().Name+" "+info.ClientInfo().Version), maskedText)
}
