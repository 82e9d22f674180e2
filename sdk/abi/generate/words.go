package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"unicode"
)

// functions are what templates may call.
var functions = template.FuncMap{
	"camel":       func(name string) string { return camel(name, nil) },
	"goName":      func(name string) string { return camel(name, initialisms) },
	"lowerCamel":  lowerCamel,
	"snake":       snake,
	"upper":       strings.ToUpper,
	"comment":     comment,
	"explain":     explain,
	"quote":       strconv.Quote,
	"amount":      amount,
	"title":       func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	"listed":      listed,
	"c":           func(p *Param) string { return typed(p, cTypes) },
	"zig":         func(p *Param) string { return typed(p, zigTypes) },
	"rust":        func(p *Param) string { return typed(p, rustTypes) },
	"as":          func(p *Param) string { return typed(p, asTypes) },
	"go":          func(p *Param) string { return typed(p, goTypes) },
	"goParam":     goParam,
	"ts":          ts,
	"shaped":      shaped,
	"membered":    membered,
	"present":     present,
	"rustName":    rustName,
	"note":        note,
	"asked":       asked,
	"given":       given,
	"hostPattern": hostPattern,
	"json": func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	},
	"requireds": requireds,
}

// The types of parameters in the languages. A result that is absent is "".
var (
	cTypes    = map[string]string{"": "void", "buffer": "char *", "bytes": "const char *", "length": "int", "i32": "int", "i64": "long long"}
	zigTypes  = map[string]string{"": "void", "buffer": "[*]u8", "bytes": "[*]const u8", "length": "usize", "i32": "i32", "i64": "i64"}
	rustTypes = map[string]string{"buffer": "*mut u8", "bytes": "*const u8", "length": "i32", "i32": "i32", "i64": "i64"}
	asTypes   = map[string]string{"": "void", "buffer": "usize", "bytes": "usize", "length": "i32", "i32": "i32", "i64": "i64"}
	goTypes   = map[string]string{"buffer": "unsafe.Pointer", "bytes": "unsafe.Pointer", "length": "int32", "i32": "int32", "i64": "int64"}
)

// goParam is the name of a parameter in Go, where the contract's may be a builtin's.
func goParam(p Param) string {
	switch p.Name {
	case "len":
		return "length"
	case "cap":
		return "capacity"
	}
	return p.Name
}

func typed(p *Param, types map[string]string) string {
	if p == nil {
		return types[""]
	}
	return types[p.Type]
}

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{"kv": "KV", "http": "HTTP", "id": "ID", "url": "URL", "cpu": "CPU", "ms": "Ms", "ttl": "TTL", "s": "Seconds", "doctype": "DocType", "html": "HTML"}

// camel is doc_get as DocGet.
func camel(name string, special map[string]string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if s, ok := special[word]; ok {
			b.WriteString(s)
		} else if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// lowerCamel is doc_get as docGet.
func lowerCamel(name string) string {
	s := camel(name, map[string]string{"http": "Http"})
	return strings.ToLower(s[:1]) + s[1:]
}

// snake is NotFound as not_found.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// comment is text in lines of at most 100 columns, each with the prefix.
func comment(prefix, text string) string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := prefix
		for word := range strings.FieldsSeq(paragraph) {
			if len(line)+1+len(word) > 100 && line != prefix {
				lines = append(lines, line)
				line = prefix
			}
			line += " " + word
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// explain is all that an author has to know of a capability, a paragraph a line.
func explain(cp Capability) string {
	text := cp.Doc + "\n\nRequest: "
	if len(cp.Request.Properties) == 0 {
		text += "an empty object."
	}
	for i, p := range cp.Request.Properties {
		if i > 0 {
			text += "; "
		}
		text += p.Name
		if p.Schema.Description != "" {
			text += ", " + p.Schema.Description
		}
		if !p.Required {
			text += " (may be missing)"
		}
	}
	if len(cp.Request.Properties) > 0 {
		text += "."
	}
	text += "\nAnswer: " + answer(cp) + ".\nErrors: "
	if len(cp.Errors) == 0 {
		return text + "none of its own."
	}
	for i, f := range cp.Errors {
		if i > 0 {
			text += "; "
		}
		text += f.String("")
	}
	return text + "."
}

// listed is `a`, `b` and `c`.
func listed(cs []Capability) string {
	var b strings.Builder
	for i, cp := range cs {
		switch {
		case i > 0 && i == len(cs)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("`" + cp.Name + "`")
	}
	return b.String()
}

// answer is what comes back, in words.
func answer(cp Capability) string {
	switch s := cp.Answer; {
	case s.Ref != "":
		return "the " + strings.TrimPrefix(s.Ref, "#/types/")
	case s.Description != "":
		return s.Description
	case s.Type == "null":
		return "null"
	case len(s.Properties) > 0:
		var names []string
		for _, p := range s.Properties {
			names = append(names, p.Name)
		}
		return "an object with " + strings.Join(names, ", ")
	default:
		return "of type " + s.Type
	}
}

// String says what fails and when; mark goes around names.
func (f Failure) String(mark string) string {
	kind, exc := mark+f.Kind+mark, mark+f.ExcType+mark
	switch {
	case f.Kind == "":
		return f.When
	case f.ExcType != "" && f.When != "":
		return fmt.Sprintf("%s (%s: %s)", kind, exc, f.When)
	case f.ExcType != "":
		return fmt.Sprintf("%s (%s)", kind, exc)
	case f.When != "":
		return kind + ": " + f.When
	}
	return kind
}

// Shape is the parameters and the result, as abi.md writes them.
func (i Import) Shape() string {
	var names []string
	for _, p := range i.Params {
		names = append(names, p.Name)
	}
	shape := "(" + strings.Join(names, ", ") + ")"
	if i.Result != nil {
		shape += " -> " + i.Result.Name
	}
	if i.NeverReturns {
		shape += ", never returns"
	}
	return shape
}

// ErrorCell is the errors of a capability as a cell of a table.
func (cp Capability) ErrorCell() string {
	var all []string
	for _, f := range cp.Errors {
		all = append(all, f.String("`"))
	}
	return strings.Join(all, "; ")
}

// RequestCell and AnswerCell are the example as cells of a table.
func (cp Capability) RequestCell() string { return cell(cp.Example.RequestIs, cp.Example.Request) }
func (cp Capability) AnswerCell() string  { return cell(cp.Example.AnswerIs, cp.Example.Answer) }

func cell(words string, example json.RawMessage) string {
	if words != "" {
		return words
	}
	return "`" + inline(example) + "`"
}

// inline is JSON on one line, with spaces after commas and colons.
func inline(text json.RawMessage) string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err.Error()
	}
	var b strings.Builder
	inText, escaped := false, false
	for _, r := range compact.String() {
		b.WriteRune(r)
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			inText = !inText
		case !inText && (r == ',' || r == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// amount is a limit as people read it.
func amount(l Limit, n int) string {
	switch {
	case l.Unit == "bytes" && n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case l.Unit == "bytes":
		return fmt.Sprintf("%d KiB", n>>10)
	case strings.HasPrefix(l.Unit, "milliseconds") && n >= 1000:
		return fmt.Sprintf("%d s", n/1000)
	case strings.HasPrefix(l.Unit, "milliseconds"):
		return fmt.Sprintf("%d ms", n)
	case n >= 1000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return strconv.Itoa(n)
}

// ts is a schema as a type of TypeScript.
func ts(s Schema) string {
	switch {
	case s.Ref == "#/types/document":
		return "Doc"
	case s.Ref == "#/types/filters":
		return "[field: string, operator: string, value: unknown][]"
	case s.Ref == "#/types/headers":
		return "{ [name: string]: string }"
	case len(s.Enum) > 0:
		return `"` + strings.Join(s.Enum, `" | "`) + `"`
	case len(s.Properties) > 0:
		var members []string
		for _, p := range s.Properties {
			mark := "?"
			if p.Required {
				mark = ""
			}
			members = append(members, p.Name+mark+": "+ts(p.Schema))
		}
		return "{ " + strings.Join(members, "; ") + " }"
	case s.Type == "array" && s.Items != nil:
		return ts(*s.Items) + "[]"
	case s.Type == "object":
		return "{ [name: string]: any }"
	case s.Type == "string", s.Type == "null", s.Type == "boolean":
		return s.Type
	case s.Type == "integer", s.Type == "number":
		return "number"
	}
	return "any"
}
