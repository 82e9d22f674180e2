package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/query"
)

// Bounds of a list.
const (
	maxRows   = 100
	maxAsked  = 4 << 10 // bytes of its arguments: what is longer takes turns over REST, where there are some
	maxFields = 6       // that are shown where nobody asks for any
)

// read answers with one document, as REST shows it.
func (s *Service) read(ctx context.Context, c *call, args method.Args) (*result, error) {
	typeName, name := args.Text("doctype"), args.Text("name")
	raw, err := s.document(ctx, c.route.Caller, typeName, name)
	if err != nil {
		return nil, err
	}
	return shorten(ctx, raw, readText, func(path ...string) string { return documentURI(typeName, name, path...) })
}

// document is one document as JSON.
func (s *Service) document(ctx context.Context, caller *identity.Caller, typeName, name string) (raw []byte, err error) {
	docs := s.c.Documents
	if err := docs.Freshen(ctx, typeName, nil); err != nil {
		return nil, err
	}
	fn := func(tx document.Tx) (err error) {
		raw, err = docs.As(caller, tx).AppendDocument(ctx, raw[:0], typeName, name, document.ReadOptions{})
		return err
	}
	if replica := document.WithReplica(ctx); docs.ReadsOnce(typeName, document.ReadOptions{}) {
		err = s.c.Store.Read(replica, fn)
	} else {
		err = s.c.Store.View(replica, nil, fn)
	}
	return raw, err
}

// list answers with rows, as REST lists them.
func (s *Service) list(ctx context.Context, c *call, args method.Args) (*result, error) {
	if text, err := args.JSON(); err != nil {
		return nil, err
	} else if len(text) > maxAsked {
		return nil, fault.Invalid("DataError", "The arguments of a list have over %d bytes", maxAsked)
	}
	typeName, docs := args.Text("doctype"), s.c.Documents
	if err := docs.Freshen(ctx, typeName, nil); err != nil {
		return nil, err
	}
	q, err := s.asked(c.route.Caller, typeName, args)
	if err != nil {
		return nil, err
	}
	var raw []byte
	err = s.c.Store.Read(document.WithReplica(ctx), func(tx document.Tx) (err error) {
		raw, err = docs.As(c.route.Caller, tx).AppendList(ctx, append(raw[:0], `{"rows":`...), typeName, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return listed(ctx, append(raw, '}'), typeName, q)
}

// asked is the query of a list.
func (s *Service) asked(caller *identity.Caller, typeName string, args method.Args) (*query.Query, error) {
	q, err := query.Parse(func(name string) any {
		switch name {
		case "limit_start":
			return args.Get("start")
		case "fields":
			if args.Get(name) == nil {
				return telling(s.c.Documents.Schema().DocType(typeName), caller)
			}
			return args.Get(name)
		case "filters", "or_filters", "order_by", "group_by", "limit":
			return args.Get(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if q.Length <= 0 || q.Length > maxRows {
		return nil, fault.Invalid("DataError", "limit is 1 to %d", maxRows)
	}
	seen := map[query.Ref]bool{}
	for _, f := range q.Fields {
		if f.Func == "" && !f.Star && f.Nested == nil && seen[f.Ref] {
			return nil, fault.Invalid("DataError", "%s is asked for twice", f.Ref)
		}
		seen[f.Ref] = true
	}
	return q, nil
}

// telling are the fields that say most about a document, of those the caller sees.
func telling(dt *doctype.DocType, caller *identity.Caller) any {
	if dt == nil {
		return nil // the list says that there is none
	}
	levels := access.LevelsFor(dt.Permissions, caller, access.Read) | 1
	names := []any{"name"}
	add := func(f *doctype.Field) {
		if f == nil || f.Index < 0 || f.IsInternal() || f.IsPassword() || !levels.Has(f.PermLevel) || f.Virtual || f.Hidden || len(names) > maxFields {
			return
		}
		for _, there := range names {
			if there == f.Name {
				return
			}
		}
		names = append(names, f.Name)
	}
	add(dt.Field(dt.TitleField))
	for _, name := range dt.Search {
		add(dt.Field(name))
	}
	add(dt.Field("status"))
	for _, f := range dt.Fields {
		if !f.Standard && (f.Required || f.IsLink()) {
			add(f)
		}
	}
	if dt.Submittable {
		names = append(names, "docstatus")
	}
	return append(names, "modified")
}

// listed makes a result of the rows of a list.
func listed(ctx context.Context, raw []byte, typeName string, q *query.Query) (*result, error) {
	res, err := shorten(ctx, raw, listText, func(path ...string) string {
		if len(path) == 0 {
			return ""
		}
		return documentURI(typeName, path[0])
	})
	if err != nil {
		return nil, err
	}
	if n := rowsOf(res.raw); n == q.Length {
		res.raw = append(bytes.TrimSuffix(res.raw, []byte("}")), `,"next_start":`+strconv.Itoa(q.Start+n)+`}`...)
	}
	return res, nil
}

// rowsOf counts the rows of a list.
func rowsOf(raw []byte) int {
	var of struct {
		Rows []json.RawMessage `json:"rows"`
	}
	if json.Unmarshal(raw, &of) != nil {
		return 0
	}
	return len(of.Rows)
}

// search finds documents as a field does in which somebody types.
func (s *Service) search(ctx context.Context, c *call, args method.Args) (*result, error) {
	asked := map[string]any{"doctype": args.Get("doctype"), "txt": args.Text("text")}
	if n := args.Text("limit"); n != "" {
		asked["page_length"] = n
	}
	if err := s.c.Documents.Freshen(ctx, args.Text("doctype"), nil); err != nil {
		return nil, err
	}
	res, err := s.c.Methods().Run(ctx, method.Invocation{
		Path: "framework.desk.search.search_link", Verb: "GET", Caller: c.route.Caller, Args: method.ArgsMap(asked),
	})
	if err != nil {
		return nil, err
	}
	return shorten(ctx, []byte(`{"rows":`+strings.TrimSpace(string(res.Message))+`}`), listText, func(...string) string { return "" })
}
