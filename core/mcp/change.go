package mcp

import (
	"context"
	"encoding/json"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
	"armature/core/notice"
)

// values are the fields that a document is to have.
func values(args method.Args) (map[string]any, error) {
	given, ok := args.Get("values").(map[string]any)
	if !ok {
		return nil, fault.Invalid("TypeError", "values is an object with the fields of the document")
	}
	own := make(map[string]any, len(given))
	for name, v := range given {
		if name != "doctype" {
			own[name] = v
		}
	}
	return own, nil
}

func (s *Service) create(ctx context.Context, c *call, args method.Args) (*result, error) {
	given, err := values(args)
	if err != nil {
		return nil, err
	}
	typeName := args.Text("doctype")
	return s.write(ctx, c, typeName, given, func(ctx context.Context, tx document.Tx) (*doctype.Document, error) {
		return s.c.Documents.As(c.route.Caller, tx).Insert(ctx, typeName, given)
	})
}

func (s *Service) update(ctx context.Context, c *call, args method.Args) (*result, error) {
	given, err := values(args)
	if err != nil {
		return nil, err
	}
	typeName, name := args.Text("doctype"), args.Text("name")
	return s.write(ctx, c, typeName, given, func(ctx context.Context, tx document.Tx) (*doctype.Document, error) {
		return s.c.Documents.As(c.route.Caller, tx).Update(ctx, typeName, name, given)
	})
}

// write runs a change as REST does, commits it, and answers with the document it left.
// fn may run more than once.
func (s *Service) write(ctx context.Context, c *call, typeName string, given map[string]any, fn func(ctx context.Context, tx document.Tx) (*doctype.Document, error)) (*result, error) {
	docs := s.c.Documents
	ctx = document.WithOrigin(ctx, s.c.Base(c.r))
	if err := docs.Freshen(ctx, typeName, given); err != nil {
		return nil, err
	}
	var raw []byte
	var name string
	var told *notice.List
	err := s.c.Store.Write(document.WithParty(ctx, typeName), docs.WriteMode(typeName), func(tx document.Tx) error {
		told = &notice.List{}
		doc, err := fn(notice.With(ctx, told), tx)
		if err != nil {
			return err
		}
		name = doc.Name()
		raw = docs.AppendWritten(raw[:0], c.route.Caller, doc, document.ReadOptions{})
		if unknown := document.UnknownFields(tx); len(unknown) > 0 {
			text, err := json.Marshal(unknown)
			if err != nil {
				return err
			}
			raw = append(raw[:len(raw)-1], `,"`+document.UnknownFieldsKey+`":`+string(text)+`}`...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res, err := shorten(ctx, raw, readText, func(...string) string { return documentURI(typeName, name) })
	if err != nil { // there is no memory to show it, and it is kept all the same
		raw, err := json.Marshal(object{"name": name, "cut": true, "next": "It is done. Call read to see the document."})
		if err != nil {
			return nil, err
		}
		res = &result{raw: raw}
	}
	res.notes = texts(told.All())
	return res, nil
}

func texts(list []notice.Notice) (all []string) {
	for _, n := range list {
		all = append(all, n.Text)
	}
	return all
}

func (s *Service) remove(ctx context.Context, c *call, args method.Args) (*result, error) {
	typeName, name, docs := args.Text("doctype"), args.Text("name"), s.c.Documents
	if err := docs.Freshen(ctx, typeName, nil); err != nil {
		return nil, err
	}
	var told *notice.List
	err := s.c.Store.Write(document.WithParty(ctx, typeName), docs.DeleteMode(typeName), func(tx document.Tx) error {
		told = &notice.List{}
		return docs.As(c.route.Caller, tx).Delete(notice.With(ctx, told), typeName, name)
	})
	if err != nil {
		return nil, err
	}
	return &result{raw: []byte(`{"deleted":true}`), notes: texts(told.All())}, nil
}

// submit runs one of the methods that change where a document stands.
func (s *Service) submit(ctx context.Context, c *call, args method.Args) (*result, error) {
	action := args.Text("action")
	switch action {
	case "":
		action = "submit"
	case "submit", "cancel", "discard":
	default:
		return nil, fault.Invalid("", "action is submit, cancel or discard")
	}
	typeName, name := args.Text("doctype"), args.Text("name")
	if err := s.c.Documents.Freshen(ctx, typeName, nil); err != nil {
		return nil, err
	}
	res, err := s.c.Methods().RunOnDocument(ctx, method.OnDocument{
		DocType: typeName, Name: name, Method: action, Verb: "POST", Caller: c.route.Caller, Args: method.ArgsMap(nil), Request: s.request(c, "POST"),
	})
	if err != nil {
		return nil, err
	}
	out, err := shorten(ctx, res.Message, readText, func(...string) string { return documentURI(typeName, name) })
	if err == nil {
		out.notes = texts(res.Messages)
	}
	return out, err
}
