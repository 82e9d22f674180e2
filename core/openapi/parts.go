package openapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"armature/core/doctype"
)

// operation completes an operation on a DocType with what all of them have.
func operation(summary string, dt *doctype.DocType, verb string, op object) object {
	op["summary"] = summary
	op["operationId"] = verb + "_" + schemaName(dt.Name)
	op["tags"] = []string{dt.Name}
	return op
}

func query(name, description string, schema object) object {
	return object{"name": name, "in": "query", "description": description, "schema": schema}
}

// listParameters are the parameters of SPEC's table, and those of the reference
// that clients send besides.
func listParameters() []object {
	text, number := object{"type": "string"}, object{"type": "integer", "minimum": 0}
	return []object{
		query("fields", "JSON array of field names; without it only name", text),
		query("filters", "JSON array of [field, operator, value], all of which must hold", text),
		query("or_filters", "JSON array of [field, operator, value], one of which must hold", text),
		query("expand", "JSON array of link fields to return as objects", text),
		query("order_by", "field asc|desc, several separated by commas", text),
		query("group_by", "fields separated by commas", text),
		query("limit_start", "Offset of the first row", number),
		query("limit_page_length", "Rows to return; 0: all", object{"type": "integer", "minimum": 0, "default": 20}),
		query("limit", "Alias of limit_page_length", number),
		query("as_dict", "False: rows are arrays", object{"type": "string", "enum": []string{"True", "False"}}),
		query("debug", "True: the executed statements under exc", object{"type": "string", "enum": []string{"True", "False"}}),
		query("parent", "The DocType through which a child table is listed", text),
	}
}

func ref(dt *doctype.DocType) object {
	return object{"$ref": "#/components/schemas/" + schemaName(dt.Name)}
}

// schemaName is a DocType's name as a component key may be written. A dot stands
// for a space, since no DocType's name holds one: two names stay two.
func schemaName(name string) string { return strings.ReplaceAll(name, " ", ".") }

func data(schema object) object {
	return object{"type": "object", "properties": object{"data": schema}, "required": []string{"data"}}
}

func body(schema object) object {
	return object{"required": true, "content": object{"application/json": object{"schema": schema}}}
}

// answers are the success and the errors every operation can have.
func answers(status string, schema object) object {
	return object{
		status: object{"description": "Success", "content": object{"application/json": object{"schema": schema}}},
		"default": object{"description": "Refused or failed; exc_type says why",
			"content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/framework.Error"}}}},
	}
}

// common adds what is not of any DocType. The dot keeps the name apart from
// those of DocTypes, which hold none.
func (b *builder) common() {
	b.schemas["framework.Error"] = object{
		"type": "object", "required": []string{"exc_type", "message"},
		"properties": object{
			"exc_type":         object{"type": "string", "examples": []string{"ValidationError", "DoesNotExistError", "PermissionError"}},
			"message":          object{"type": "string", "description": "What happened, in a sentence for people"},
			"exception":        object{"type": "string"},
			"exc":              object{"type": "string", "description": "JSON text of an array holding the stack trace"},
			"_server_messages": object{"type": "string", "description": "JSON text of an array of JSON texts of messages"},
		},
	}
}

// method adds a method's path. A method of the platform describes no
// arguments.
func (b *builder) method(m Method) {
	verbs := m.Verbs
	if len(verbs) == 0 {
		verbs = []string{http.MethodGet, http.MethodPost}
	}
	message := any(object{})
	if m.Result != nil {
		message = m.Result
	}
	path := object{}
	for _, verb := range verbs {
		op := object{
			"summary":     m.Description,
			"operationId": "method_" + strings.ToLower(verb) + "_" + m.Path,
			"tags":        []string{"methods"},
			"responses":   answers("200", object{"type": "object", "properties": object{"message": message}}),
		}
		if m.Description == "" {
			op["summary"] = m.Path
		}
		if m.AllowGuest {
			op["security"] = []object{{}, {"token": []string{}}}
		}
		if verb == http.MethodGet || verb == http.MethodDelete {
			op["parameters"] = argumentParameters(m.Args)
		} else {
			op["requestBody"] = argumentBody(m.Args)
		}
		path[strings.ToLower(verb)] = op
	}
	b.paths["/api/method/"+m.Path] = path
}

func argumentBody(args json.RawMessage) object {
	schema := any(object{"type": "object"})
	if args != nil {
		schema = args
	}
	return object{"content": object{"application/json": object{"schema": schema}}}
}

// argumentParameters turns the schema of an object into query parameters.
func argumentParameters(args json.RawMessage) []object {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	parameters := []object{}
	if json.Unmarshal(args, &schema) != nil {
		return parameters
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		parameters = append(parameters, object{
			"name": name, "in": "query", "schema": schema.Properties[name],
			"required": slices.Contains(schema.Required, name),
		})
	}
	return parameters
}
