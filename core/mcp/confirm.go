package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/confirm"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/method"
)

// ConfirmPath is where the page is on which a call is confirmed; its id follows.
const ConfirmPath = "/app/confirm/"

// waiting is a call that waits for its user.
type waiting struct {
	c   *confirm.Confirmation
	url string
}

// Error implements error.
func (w *waiting) Error() string { return "the call waits for a confirmation" }

// guarded runs a tool where the site wants what agents write confirmed. What only reads
// keeps nothing and asks no other server. What writes is rehearsed and waits; once its
// user has confirmed it in the browser, the same call is made.
//
// Errors: ConfirmationRequiredError for a call that waits; PermissionError for one that
// was refused; those of the call.
func (s *Service) guarded(ctx context.Context, c *call, t *tool, args method.Args, agent string) (*result, error) {
	if t.reads {
		r := s.rehearsal(c)
		res, err := t.run(rehearsed(ctx, r), c, args)
		if asked := r.Unforeseen(); err != nil && len(asked) > 0 && fault.From(err).Kind != fault.Internal {
			err = fault.Wrap(fault.Permission, "", err, "%s only reads, and what was called wants more than that: %s. Call call_method, which the user is asked to confirm", t.name, asked[0])
		}
		return res, err
	}
	digest, err := digestOf(c, t, args)
	if err != nil {
		return nil, err
	}
	found, err := s.c.Confirmations.Find(ctx, c.route.Caller.User, digest)
	if err != nil {
		return nil, err
	}
	switch {
	case found == nil:
	case found.Status == confirm.Refused:
		return nil, fault.Denied("The user has refused this call. Do not try it again unless the user asks for it")
	case found.Status == confirm.Pending:
		return nil, s.wait(c, found)
	default:
		spent, err := s.c.Confirmations.Spend(ctx, found)
		if err != nil {
			return nil, err
		}
		if spent {
			return t.run(s.agreedTo(ctx, found), c, args)
		}
	}
	return nil, s.rehearse(ctx, c, t, args, digest, agent)
}

// rehearsal is one that the user of a call looks at, with all their rights: it is a
// person who will be asked, and not the agent.
func (s *Service) rehearsal(c *call) *document.Rehearsal {
	person := *c.route.Caller
	person.Scopes, person.Frame = nil, nil
	return document.NewRehearsal(s.c.Documents.Schema(), func(ctx context.Context, tx document.Tx, typeName, name string) bool {
		_, err := s.c.Documents.As(&person, tx).Get(ctx, typeName, name)
		return err == nil
	})
}

// rehearsed is a context under which nothing is kept and nothing is sent.
func rehearsed(ctx context.Context, r *document.Rehearsal) context.Context {
	return egress.Forbid(document.WithRehearsal(ctx, r), func(verb, url string) {
		r.Refuse("It sends a request to another server: " + verb + " " + cutAt(url, shownText))
	})
}

// rehearse tries a call out and has its user asked.
func (s *Service) rehearse(ctx context.Context, c *call, t *tool, args method.Args, digest, agent string) error {
	r := s.rehearsal(c)
	_, err := t.run(rehearsed(ctx, r), c, args)
	unforeseen := r.Unforeseen()
	if err != nil && (len(unforeseen) == 0 || fault.From(err).Kind == fault.Internal) {
		return err
	}
	asked := &confirm.Confirmation{
		User: c.route.Caller.User, Client: c.route.Caller.Client, Digest: digest,
		Content: confirm.Content{Agent: agent, Tool: t.name, Unforeseen: unforeseen, Arguments: s.shownArguments(args)},
	}
	asked.Content.Changes, asked.Content.More = s.shownChanges(c, r)
	if err := s.c.Confirmations.Keep(ctx, asked); err != nil {
		return err
	}
	return s.wait(c, asked)
}

func (s *Service) wait(c *call, asked *confirm.Confirmation) error {
	w := &waiting{asked, s.c.Base(c.r) + ConfirmPath + asked.ID}
	return fault.Wrap(fault.Permission, "ConfirmationRequiredError", w,
		"Nothing has been changed: this call waits until the user has confirmed it in the browser, at %s", w.url)
}

// agreedTo is a context under which a call does what its user has seen. Where that could
// not be foreseen there is nothing to keep to.
func (s *Service) agreedTo(ctx context.Context, c *confirm.Confirmation) context.Context {
	if len(c.Content.Unforeseen) > 0 || c.Content.More > 0 {
		return ctx
	}
	a := document.NewAgreement(s.c.Documents.Schema())
	for _, change := range c.Content.Changes {
		switch change.Did {
		case didCreate:
			a.Make(change.DocType)
		case didSet:
			a.Set(change.DocType, change.Fields[0].Name)
		default:
			a.Change(change.DocType, change.Name, change.Modified)
		}
	}
	return document.WithAgreement(ctx, a)
}

// digestOf is that of user, application, tool and arguments, each with its length before
// it.
func digestOf(c *call, t *tool, args method.Args) (string, error) {
	text, err := args.JSON()
	if err != nil {
		return "", err
	}
	v, ok := decoded(text)
	if !ok {
		return "", fault.Invalid("DataError", "The arguments are no JSON")
	}
	canonical, err := json.Marshal(v) // members in the order of their names
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, part := range []string{c.route.Caller.User, c.route.Caller.Client, t.name, string(canonical)} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// shownArguments are the arguments as the user is shown them.
func (s *Service) shownArguments(args method.Args) (all []confirm.Argument) {
	text, err := args.JSON()
	if err != nil {
		return nil
	}
	given, _ := s.maskedJSON(text).(map[string]any)
	for name, v := range given {
		all = append(all, confirm.Argument{Name: name, Value: cutAt(plainText(v), 4*shownText)})
	}
	slices.SortFunc(all, func(a, b confirm.Argument) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return all
}

func plainText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // a page escapes it
	if enc.Encode(v) != nil {
		return ""
	}
	return string(bytes.TrimSpace(text.Bytes()))
}

// elicitation asks a client that can to open the page (specification 2026-07-28,
// Elicitation, URL Mode). What it answers counts for nothing: the row of the
// confirmation does. nil: the client cannot, or has been asked.
func elicitation(req *sdk.CallToolRequest, err error) *sdk.CallToolResult {
	var w *waiting
	if !errors.As(err, &w) || req.Params.InputResponses != nil || req.ProtocolVersion() < "2026-07-28" {
		return nil
	}
	if can := req.ClientCapabilities(); can == nil || can.Elicitation == nil || can.Elicitation.URL == nil {
		return nil
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"confirmation": &sdk.ElicitParams{
		Mode: "url", URL: w.url, ElicitationID: w.c.ID, Message: "Look at what " + w.c.Content.Tool + " changes, and confirm it or refuse to.",
	}}}
}

// would is what a waiting call does, for the agent: what it may read itself.
func (s *Service) would(c *call, w *waiting) []object {
	all := []object{}
	for _, change := range w.c.Content.Changes {
		if dt := s.c.Documents.Schema().DocType(change.DocType); !change.Hidden && dt != nil && slices.Contains(rightsOn(c.route.Caller, dt), "read") {
			all = append(all, object{"did": change.Did, "doctype": change.DocType, "name": change.Name})
		}
	}
	return all[:min(len(all), 20)]
}
