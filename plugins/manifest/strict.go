package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds nesting: a manifest is shallow, and the checker recurses.
const maxDepth = 64

// decodeStrict decodes text into v, a pointer to a struct. Beyond encoding/json
// it refuses unknown and repeated members, members in another letter case, and
// anything after the value, and says where.
func decodeStrict(text []byte, v any) (*checker, error) {
	if !utf8.Valid(text) {
		return newChecker(text), &Error{Text: "not UTF-8 text"}
	}
	c := newChecker(text)
	if err := c.value(reflect.TypeOf(v).Elem(), "", 0); err != nil {
		return c, c.explain(err)
	}
	if end := bytes.TrimSpace(text[c.dec.InputOffset():]); len(end) > 0 {
		return c, c.at(c.next(), "", "more text after the manifest")
	}
	return c, c.explain(json.Unmarshal(text, v))
}

func newChecker(text []byte) *checker {
	return &checker{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
}

// checker walks the text beside the type it will be decoded into.
type checker struct {
	text   []byte
	dec    *json.Decoder
	starts []start // of the values, in order
}

// value checks one value of type t, found at path; t is nil where any JSON goes.
func (c *checker) value(t reflect.Type, path string, depth int) error {
	begin := c.next()
	if depth > maxDepth {
		return c.at(begin, path, "nested too deep")
	}
	c.starts = append(c.starts, start{path, begin})
	token, err := c.dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = c.object(t, path, depth)
	case json.Delim('['):
		err = c.array(t, path, depth)
	default:
		return nil
	}
	if err == nil {
		_, err = c.dec.Token() // the closing delimiter
	}
	return err
}

func (c *checker) object(t reflect.Type, path string, depth int) error {
	known := members(t)
	seen := map[string]bool{}
	for c.dec.More() {
		begin := c.next()
		token, err := c.dec.Token()
		if err != nil {
			return err
		}
		name := token.(string)
		at := join(path, name)
		if seen[name] {
			return c.at(begin, at, "%s is given twice", at)
		}
		seen[name] = true
		mt := known.typeOf(name)
		if t != nil && t.Kind() == reflect.Map {
			mt = t.Elem()
		}
		if known != nil && mt == nil {
			return c.at(begin, at, "unknown field %s; expected one of %s", at, known)
		}
		if err := c.value(mt, at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) array(t reflect.Type, path string, depth int) error {
	var elem reflect.Type
	if t != nil && t.Kind() == reflect.Slice && t != rawMessage {
		elem = t.Elem()
	}
	for i := 0; c.dec.More(); i++ {
		if err := c.value(elem, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// at makes an error about a place of the text.
func (c *checker) at(offset int, path, format string, args ...any) error {
	e := &Error{Text: fmt.Sprintf(format, args...), Path: path}
	e.Line, e.Column = c.position(offset)
	return e
}

// explain adds the position to what encoding/json reports.
func (c *checker) explain(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return c.at(max(int(syntax.Offset)-1, 0), "", "not JSON: %v", err)
	case errors.As(err, &typ):
		where := c.around(typ.Offset)
		if where.path == "" {
			where.path = "the manifest"
		}
		return c.at(where.offset, where.path, "%s: expected %s, found %s", where.path, expectation(typ.Type), typ.Value)
	case err != nil && strings.Contains(err.Error(), "EOF"):
		return c.at(len(c.text), "", "the text ends early")
	}
	return err
}

// fields are the members of a struct in the order of their declaration; nil
// stands for a type with members of any name.
type fields []reflect.StructField

var rawMessage = reflect.TypeFor[json.RawMessage]()

func members(t reflect.Type) fields {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return !f.IsExported() })
}

func (fs fields) typeOf(name string) reflect.Type {
	for _, f := range fs {
		if memberName(f) == name {
			return f.Type
		}
	}
	return nil
}

// String lists the members for an error message.
func (fs fields) String() string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = memberName(f)
	}
	return strings.Join(names, ", ")
}

func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// expectation is a Go type in the words of JSON.
func expectation(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}
