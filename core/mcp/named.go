package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/method"
)

// maxNamed is how many tools the site's setting may name: each is read by every agent.
const maxNamed = 30

// listTools adds to the general tools those of the methods and DocTypes that the site
// names, as far as the caller may use them.
func (s *Service) listTools(ctx context.Context, next sdk.MethodHandler, req sdk.Request) (sdk.Result, error) {
	res, err := next(ctx, "tools/list", req)
	list, ok := res.(*sdk.ListToolsResult)
	if err != nil || !ok || list.NextCursor != "" {
		return res, err
	}
	c := callOf(ctx)
	names := s.c.Named()
	for _, name := range names[:min(len(names), maxNamed)] {
		if t := s.namedBy(c, name); t != nil {
			list.Tools = append(list.Tools, t.shown())
		}
	}
	return list, nil
}

// named is the tool of that name among those that the site names; nil: there is none.
func (s *Service) named(ctx context.Context, name string) *tool {
	names := s.c.Named()
	for _, of := range names[:min(len(names), maxNamed)] {
		if toolName("", of) == name || toolName("create_", of) == name {
			if t := s.namedBy(callOf(ctx), of); t != nil && t.name == name {
				return t
			}
		}
	}
	return nil
}

// toolName is the name of a tool: letters, digits, - and _ alone, which every model's
// interface takes.
func toolName(prefix, of string) string {
	return cutAt(prefix+strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, of), 64)
}

// namedBy makes the tool of a method, or that which creates documents of a DocType.
func (s *Service) namedBy(c *call, of string) *tool {
	if dt := s.c.Documents.Schema().DocType(of); dt != nil {
		if dt.Child || dt.Single || !access.Reaches(c.route.Caller, dt, access.Create) {
			return nil
		}
		return s.creating(c, dt)
	}
	m := s.callable(c.route.Caller, of)
	if m == nil {
		return nil
	}
	t := &tool{name: toolName("", of), about: m.Description, schema: `{"type":"object"}`, reads: onlyReads(m)}
	if t.about == "" {
		t.about = "Calls " + m.Path + "."
	}
	if isObject(m.ArgsSchema) {
		t.schema = string(m.ArgsSchema)
	}
	verb := http.MethodPost
	if t.reads {
		verb = http.MethodGet
	}
	t.run = func(ctx context.Context, c *call, args method.Args) (*result, error) {
		return s.run(ctx, c, m.Path, verb, args.Map())
	}
	return t
}

// isObject reports whether a schema is that of an object, as a tool's has to be.
func isObject(schema json.RawMessage) bool {
	var of struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(schema, &of) == nil && of.Type == "object"
}

// creating is the tool that makes documents of a DocType, whose fields are its
// arguments.
func (s *Service) creating(c *call, dt *doctype.DocType) *tool {
	levels := access.LevelsFor(dt.Permissions, c.route.Caller, access.Write) | 1
	properties, required := object{}, []string{}
	for _, f := range dt.Fields {
		if f.Standard || f.Kind == doctype.NoValue || f.ReadOnly || f.Virtual || f.IsInternal() || !levels.Has(f.PermLevel) {
			continue
		}
		properties[f.Name] = f.JSONSchema()
		if f.Required && f.Default == "" {
			required = append(required, f.Name)
		}
	}
	slices.Sort(required)
	schema, _ := json.Marshal(object{"type": "object", "properties": properties, "required": required}) // of our own making
	return &tool{
		name: toolName("create_", dt.Name), about: "Makes a " + dt.Name + ".", schema: string(schema), adds: true,
		run: func(ctx context.Context, c *call, args method.Args) (*result, error) {
			given := args.Map()
			return s.write(ctx, c, dt.Name, given, func(ctx context.Context, tx document.Tx) (*doctype.Document, error) {
				return s.c.Documents.As(c.route.Caller, tx).Insert(ctx, dt.Name, given)
			})
		},
	}
}
