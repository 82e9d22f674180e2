package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"

	"armature/core/fault"
	"armature/core/method"
)

func (s *Service) queryMethod(ctx context.Context, c *call, args method.Args) (*result, error) {
	return s.command(ctx, c, http.MethodGet, args)
}

func (s *Service) callMethod(ctx context.Context, c *call, args method.Args) (*result, error) {
	return s.command(ctx, c, http.MethodPost, args)
}

func (s *Service) command(ctx context.Context, c *call, verb string, args method.Args) (*result, error) {
	var given map[string]any
	switch v := args.Get("arguments").(type) {
	case nil:
	case map[string]any:
		given = v
	default:
		return nil, fault.Invalid("TypeError", "arguments is an object with the method's arguments by name")
	}
	return s.run(ctx, c, args.Text("method"), verb, given)
}

// run calls a method as REST does, in the budgets and limits that it has there.
func (s *Service) run(ctx context.Context, c *call, path, verb string, given map[string]any) (*result, error) {
	methods := s.c.Methods()
	argument := func(name string) string { text, _ := given[name].(string); return text }
	if err := c.route.Exchange.Admit(methods.Canonical(path), verb, argument); err != nil {
		return nil, err
	}
	if name, _ := given["doctype"].(string); name != "" {
		if err := s.c.Documents.Freshen(ctx, name, nil); err != nil {
			return nil, err
		}
	}
	res, err := methods.Run(ctx, method.Invocation{
		Path: path, Verb: verb, Caller: c.route.Caller, Args: method.ArgsMap(given), Request: s.request(c, verb),
	})
	if err != nil {
		return nil, err
	}
	raw, err := resultOf(res)
	if err != nil {
		return nil, err
	}
	out, err := shorten(ctx, raw, readText, func(...string) string { return "" })
	if err == nil {
		out.notes = texts(res.Messages)
	}
	return out, err
}

// resultOf is what a method has answered as one object.
func resultOf(res method.Result) ([]byte, error) {
	if res.Reply != nil {
		body := "(not text)"
		if utf8.Valid(res.Reply.Body) {
			body = string(res.Reply.Body)
		}
		return json.Marshal(map[string]any{"status": max(res.Reply.Status, http.StatusOK), "body": body})
	}
	raw := []byte(`{"message":`)
	if res.Message == nil {
		raw = append(raw, "null"...)
	}
	raw = append(append(raw, res.Message...), '}')
	if len(res.Extra) > 2 {
		raw = append(append(raw[:len(raw)-1], ','), res.Extra[1:]...)
	}
	return raw, nil
}

// request is what a method may see of the agent's request.
func (s *Service) request(c *call, verb string) *method.Request {
	return &method.Request{ID: c.route.RequestID, Method: verb, Path: Path, RemoteAddr: c.r.RemoteAddr, Head: head{c.r, s.c.Base(c.r)}}
}

type head struct {
	r    *http.Request
	base string
}

// Origin implements method.Head.
func (h head) Origin() string { return h.base }

// Header implements method.Head.
func (h head) Header() http.Header {
	header := h.r.Header.Clone()
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Framework-Csrf-Token"} {
		header.Del(name)
	}
	return header
}
