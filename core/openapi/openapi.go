// Package openapi describes a site's API as an OpenAPI 3.1 document, made from
// the DocTypes and methods there are at this moment and from what the caller may
// do with them. It knows no HTTP: core/httpapi serves what it makes.
package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/identity"
)

// Method is a whitelisted method as the description shows it.
type Method struct {
	Path        string
	Description string
	Verbs       []string        // nil: GET and POST are described
	AllowGuest  bool            // callable without credentials
	Args        json.RawMessage // JSON Schema of the arguments; nil: any object
	Result      json.RawMessage // JSON Schema of the result; nil: anything
}

// Info is what the description says of the whole.
type Info struct {
	Title   string
	Version string
	Server  string // the origin clients call, such as https://example.com
}

type object = map[string]any

// Reaches reports whether the caller has a right on documents of a DocType.
type Reaches func(dt *doctype.DocType, right access.Right) bool

// Document makes the description for a caller, of what it reaches and of the
// methods it may call.
func Document(info Info, schema *doctype.Schema, methods []Method, caller *identity.Caller, reaches Reaches) ([]byte, error) {
	b := &builder{schema: schema, caller: caller, reaches: reaches, paths: object{}, schemas: object{}, shown: map[string]access.Levels{}}
	b.common()
	for _, dt := range sorted(schema) {
		b.docType(dt)
	}
	for _, m := range methods {
		b.method(m)
	}
	if b.reads || len(methods) > 0 {
		b.live()
	}
	return json.Marshal(object{
		"openapi":  "3.1.0",
		"info":     object{"title": info.Title, "version": info.Version},
		"servers":  []object{{"url": info.Server}},
		"security": []object{{"token": []string{}}, {"basic": []string{}}, {"bearer": []string{}}},
		"paths":    b.paths,
		"components": object{
			"schemas": b.schemas,
			"securitySchemes": object{
				"token": object{"type": "apiKey", "in": "header", "name": "Authorization",
					"description": "token <api_key>:<api_secret>"},
				"basic":  object{"type": "http", "scheme": "basic"},
				"bearer": object{"type": "http", "scheme": "bearer"},
			},
		},
	})
}

type builder struct {
	schema  *doctype.Schema
	caller  *identity.Caller
	reaches Reaches
	paths   object
	schemas object
	shown   map[string]access.Levels // at which fields the schema of a DocType has, by its name
	reads   bool                     // the caller may read documents of some DocType
}

func sorted(schema *doctype.Schema) []*doctype.DocType {
	var all []*doctype.DocType
	for dt := range schema.All {
		all = append(all, dt)
	}
	slices.SortFunc(all, func(a, b *doctype.DocType) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// docType adds the paths of a DocType the caller may use, and its schema, which
// those of other DocTypes may point at.
func (b *builder) docType(dt *doctype.DocType) {
	may := func(right access.Right) bool { return b.reaches(dt, right) }
	if dt.Child {
		return // its schema comes with the DocTypes that hold it
	}
	b.reads = b.reads || may(access.Read)
	if !may(access.Read) && !may(access.Create) {
		return
	}
	b.component(dt)
	if dt.Single {
		b.paths["/api/resource/"+segment(dt.Name)+"/"+segment(dt.Name)] = b.one(dt, may(access.Read), may(access.Write), false, nil)
		return
	}
	all := object{}
	if may(access.Read) {
		all["get"] = b.list(dt)
	}
	if may(access.Create) {
		all["post"] = b.create(dt)
	}
	b.paths["/api/resource/"+segment(dt.Name)] = all
	if one := b.one(dt, may(access.Read), may(access.Write), may(access.Delete), nameParameter()); len(one) > 1 {
		b.paths["/api/resource/"+segment(dt.Name)+"/{name}"] = one
	}
}

// segment is a DocType's name as it stands in a path.
func segment(name string) string { return strings.ReplaceAll(name, " ", "%20") }

func nameParameter() []object {
	return []object{{"name": "name", "in": "path", "required": true, "schema": object{"type": "string"},
		"description": "Name of the document; may hold any character, percent-encoded"}}
}

func (b *builder) one(dt *doctype.DocType, read, write, remove bool, parameters []object) object {
	path := object{}
	if parameters != nil {
		path["parameters"] = parameters
	}
	if read {
		path["get"] = operation("Read one "+dt.Name, dt, "read", object{
			"parameters": []object{query("expand_links", "Replace links by the linked documents", object{"type": "string", "enum": []string{"True", "False"}})},
			"responses":  answers("200", data(ref(dt))),
		})
	}
	if write {
		path["put"] = operation("Change the given fields of one "+dt.Name, dt, "update", object{
			"requestBody": body(ref(dt)), "responses": answers("200", data(ref(dt))),
		})
	}
	if remove {
		path["delete"] = operation("Delete one "+dt.Name, dt, "delete", object{
			"responses": answers("202", object{"type": "object", "properties": object{"message": object{"const": "ok"}}, "required": []string{"message"}}),
		})
	}
	return path
}

func (b *builder) create(dt *doctype.DocType) object {
	return operation("Create a "+dt.Name, dt, "create", object{
		"requestBody": body(ref(dt)), "responses": answers("200", data(ref(dt))),
	})
}

func (b *builder) list(dt *doctype.DocType) object {
	rows := object{"type": "array", "items": object{"type": []string{"object", "array"}}}
	return operation("List documents of "+dt.Name, dt, "list", object{
		"parameters": listParameters(), "responses": answers("200", data(rows)),
	})
}
