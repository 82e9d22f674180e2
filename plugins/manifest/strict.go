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
func decodeStrict(text []byte, v any) error {
	if !utf8.Valid(text) {
		return errors.New("not UTF-8 text")
	}
	c := &checker{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	if err := c.value(reflect.TypeOf(v).Elem(), "", 0); err != nil {
		return c.explain(err)
	}
	if end := bytes.TrimSpace(text[c.dec.InputOffset():]); len(end) > 0 {
		return c.at(c.dec.InputOffset(), "more text after the manifest")
	}
	return c.explain(json.Unmarshal(text, v))
}

// checker walks the text beside the type it will be decoded into.
type checker struct {
	text []byte
	dec  *json.Decoder
}

// value checks one value of type t, found at path; t is nil where any JSON goes.
func (c *checker) value(t reflect.Type, path string, depth int) error {
	if depth > maxDepth {
		return c.at(c.dec.InputOffset(), "nested too deep")
	}
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
		token, err := c.dec.Token()
		if err != nil {
			return err
		}
		name := token.(string)
		at := join(path, name)
		if seen[name] {
			return c.at(c.dec.InputOffset(), "%s is given twice", at)
		}
		seen[name] = true
		mt := known.typeOf(name)
		if known != nil && mt == nil {
			return c.at(c.dec.InputOffset(), "unknown field %s; expected one of %s", at, known)
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

// at makes an error that begins with the line and column of an offset.
func (c *checker) at(offset int64, format string, args ...any) error {
	before := c.text[:min(int(offset), len(c.text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: "+format, append([]any{line, column}, args...)...)
}

// explain adds the position to what encoding/json reports.
func (c *checker) explain(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return c.at(syntax.Offset, "not JSON: %w", err)
	case errors.As(err, &typ):
		return c.at(typ.Offset, "%s: expected %s, found %s", typ.Field, expectation(typ.Type), typ.Value)
	case err != nil && strings.Contains(err.Error(), "EOF"):
		return c.at(int64(len(c.text)), "the text ends early")
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
