package main

import (
	"fmt"
	"strings"
)

// shapes are the types that the languages have for the shapes of members.
var shapes = map[string]map[string]string{
	"go": {
		"text": "string", "flag": "bool", "number": "int64", "texts": "[]string", "filters": "[]Filter", "headers": "map[string]string",
		"object": "any", "value": "any",
	},
	"rust": {
		"text": "String", "flag": "bool", "number": "i64", "texts": "Vec<String>", "filters": "Vec<Value>", "headers": "Object",
		"object": "Object", "value": "Value", "objects": "Vec<Object>", "nothing": "()",
	},
	"c": {
		"text": "am_str", "flag": "int", "number": "long long", "texts": "am_val", "filters": "am_val", "headers": "am_val",
		"object": "am_val", "value": "am_val",
	},
	"cpp": {
		"text": "std::string", "flag": "bool", "number": "long long", "texts": "std::vector<std::string>", "filters": "json",
		"headers": "std::map<std::string, std::string>", "object": "Document", "value": "json", "objects": "json", "nothing": "void",
	},
	"zig": {
		"text": "[]const u8", "flag": "bool", "number": "i64", "texts": "[]const []const u8", "filters": "Raw", "headers": "Raw",
		"object": "Raw", "value": "Raw",
	},
	"as": {
		"text": "string", "flag": "bool", "number": "i64", "texts": "string[]", "filters": "Value", "headers": "Value",
		"object": "Value", "value": "Value",
	},
}

// shaped is the type that a language has for a member of a request.
func shaped(language string, s Schema) string { return shapes[language][s.Shape()] }

// maybes wrap the type of a number that may be missing.
var maybes = map[string]string{
	"go": "*%s", "rust": "Option<%s>", "c": "const %s *", "cpp": "std::optional<%s>", "zig": "?%s", "as": "%s",
}

// membered is shaped for a member that may be missing.
func membered(language string, p Property) string {
	t := shaped(language, p.Schema)
	if p.Maybe() {
		return fmt.Sprintf(maybes[language], t)
	}
	return t
}

// presences say, by shape, when a member that may be missing is there; %s is the
// member.
var presences = map[string]map[string]string{
	"go": {
		"text": `%s != ""`, "flag": "%s", "number": "%s != 0", "maybe": "%s != nil", "texts": "len(%s) > 0", "filters": "len(%s) > 0",
		"headers": "len(%s) > 0", "object": "%s != nil", "value": "%s != nil",
	},
	"rust": {
		"text": "!%s.is_empty()", "flag": "%s", "number": "%s != 0", "texts": "!%s.is_empty()", "filters": "!%s.is_empty()",
		"headers": "!%s.0.is_empty()", "object": "!%s.0.is_empty()", "value": "%s != Value::Null",
	},
	"c": {
		"text": "%s.n", "flag": "%s", "number": "%s", "maybe": "%s", "texts": "am_has(%s)", "filters": "am_has(%s)", "headers": "am_has(%s)",
		"object": "am_has(%s)", "value": "am_has(%s)",
	},
	"cpp": {
		"text": "!%s.empty()", "flag": "%s", "number": "%s != 0", "maybe": "%s", "texts": "!%s.empty()", "filters": "!%s.empty()",
		"headers": "!%s.empty()", "object": "!%s.fields.empty()", "value": "!%s.is_null()",
	},
	"as": {
		"text": "%s.length > 0", "flag": "%s", "number": "%s != 0", "maybe": "%s >= 0", "texts": "%s.length > 0",
		"filters": "%s.type != Type.Null", "headers": "%s.type != Type.Null", "object": "%s.type != Type.Null", "value": "%s.type != Type.Null",
	},
}

// present is the condition under which a member is sent that may be missing.
func present(language string, p Property, member string) string {
	shape := p.Schema.Shape()
	if p.Maybe() {
		shape = "maybe"
	}
	return fmt.Sprintf(presences[language][shape], member)
}

// reserved are names of members that languages have for something else.
var reserved = map[string]string{"as": "r#as", "type": "r#type", "match": "r#match", "move": "r#move", "ref": "r#ref"}

// rustName is the name of a member in Rust.
func rustName(name string) string {
	if raw, ok := reserved[name]; ok {
		return raw
	}
	return name
}

// group is capabilities with what their templates call the module they are of.
type group struct {
	Of           string
	Capabilities []Capability
}

func given(of string, capabilities []Capability) group { return group{of, capabilities} }

// requireds are the members of a request that are always there.
func requireds(cp Capability) (required []Property) {
	for _, p := range cp.Request.Properties {
		if p.Required {
			required = append(required, p)
		}
	}
	return required
}

// note is the description of a member, and whether it may be missing.
func note(p Property) string {
	text := p.Schema.Description
	if text == "" {
		text = strings.ReplaceAll(p.Name, "_", " ")
	}
	if !p.Required {
		text += "; may be missing"
	}
	return text
}

// asked is the heading of a request: what it is for, and what it may fail with.
func asked(cp Capability) string {
	text := cp.Doc + "\nAnswer: " + answer(cp) + ". Errors: "
	if len(cp.Errors) == 0 {
		return text + "none of its own."
	}
	var all []string
	for _, f := range cp.Errors {
		all = append(all, f.String(""))
	}
	return text + strings.Join(all, "; ") + "."
}
