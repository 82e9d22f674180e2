package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// maxFile is the most bytes of a file that an agent is given.
const maxFile = 1 << 20

// Addresses of resources. Their parts are percent-encoded.
const (
	documentPrefix = "armature://document/" // DocType/name, or DocType/name/field
	filePrefix     = "armature://file/"     // name of a File
)

func templates() []*sdk.ResourceTemplate {
	return []*sdk.ResourceTemplate{
		{Name: "document", URITemplate: documentPrefix + "{doctype}/{name}", MIMEType: "application/json", Description: "A document, whole"},
		{Name: "field", URITemplate: documentPrefix + "{doctype}/{name}/{field}", MIMEType: "text/plain", Description: "What one field of a document holds"},
		{Name: "file", URITemplate: filePrefix + "{name}", Description: "What an uploaded file holds; the name is that of its File document"},
	}
}

// documentURI is the address of a document, or of one of its fields.
func documentURI(typeName, name string, field ...string) string {
	uri := documentPrefix + url.PathEscape(typeName) + "/" + url.PathEscape(name)
	if len(field) == 1 && field[0] != name {
		uri += "/" + url.PathEscape(field[0])
	}
	return uri
}

// readResource answers with what an address leads to.
func (s *Service) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	c := callOf(ctx)
	reads := c.r.Context()
	guards, err := s.c.Confirms(reads, c.route.Caller)
	if err != nil {
		return nil, err
	}
	if guards {
		reads = rehearsed(reads, s.rehearsal(c))
	}
	got, err := s.resource(reads, c, req.Params.URI)
	if err == nil {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{got}}, nil
	}
	e := fault.From(err)
	c.failed = e.ExcType()
	var scoped interface{ NeededScope() string }
	if e.Kind == fault.Permission && errors.As(err, &scoped) {
		c.needed = scoped.NeededScope()
	}
	if e.Kind == fault.NotFound {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	if e.Kind == fault.Internal {
		s.log.ErrorContext(c.r.Context(), "an MCP resource failed", "id", c.route.RequestID, "user", c.route.Caller.User, "error", err)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: e.ExcType() + ": " + e.Message}
}

func (s *Service) resource(ctx context.Context, c *call, uri string) (*sdk.ResourceContents, error) {
	if rest, ok := strings.CutPrefix(uri, filePrefix); ok {
		return s.file(ctx, c, uri, rest)
	}
	rest, ok := strings.CutPrefix(uri, documentPrefix)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 2 || len(parts) > 3 {
		return nil, fault.Missing("There is no resource %s", uri)
	}
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil || text == "" || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, fault.Missing("There is no resource %s", uri)
		}
		parts[i] = text
	}
	raw, err := s.document(ctx, c.route.Caller, parts[0], parts[1])
	if err != nil {
		return nil, err
	}
	if err := admit(c.r.Context(), len(raw)); err != nil {
		return nil, err
	}
	if len(parts) == 2 {
		return &sdk.ResourceContents{URI: uri, MIMEType: "application/json", Text: string(raw)}, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	value, ok := fields[parts[2]]
	if !ok {
		return nil, fault.Missing("%s %s has no field %s", parts[0], parts[1], parts[2])
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return &sdk.ResourceContents{URI: uri, MIMEType: "application/json", Text: string(value)}, nil
	}
	return &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: text}, nil
}

// file answers with the bytes of an uploaded file, of which the caller may read the
// File.
func (s *Service) file(ctx context.Context, c *call, uri, escaped string) (*sdk.ResourceContents, error) {
	name, err := url.PathUnescape(escaped)
	if err != nil || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return nil, fault.Missing("There is no resource %s", uri)
	}
	var doc *doctype.Document
	err = s.c.Store.Read(ctx, func(tx document.Tx) (err error) {
		found, err := s.c.Documents.As(c.route.Caller, tx).Get(ctx, "File", name)
		if err != nil {
			return err
		}
		doc, err = s.c.Files.Open(ctx, tx, c.route.Caller, found.Text("file_url"), found.Name())
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := admit(ctx, int(min(doc.Int("file_size"), maxFile))); err != nil {
		return nil, err
	}
	content, err := s.c.Files.Whole(ctx, doc, maxFile)
	if err != nil {
		return nil, err
	}
	if err := admit(ctx, len(content)); err != nil { // the File may say something else
		return nil, err
	}
	res := &sdk.ResourceContents{URI: uri, MIMEType: mime.TypeByExtension(path.Ext(doc.Text("file_name")))}
	if res.MIMEType == "" {
		res.MIMEType = "application/octet-stream"
	}
	if utf8.Valid(content) {
		res.Text = string(content)
	} else {
		res.Blob = content
	}
	return res, nil
}
