package method

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
)

// Args is the arguments of a call: a JSON object, decoded only when somebody
// asks. Guests get the text as it came.
type Args struct {
	text    []byte
	texts   []Text // by name
	decoded map[string]any
}

// Text is one argument of a query string or a form.
type Text struct{ Name, Value string }

// ArgsJSON takes the text of a request body. A list becomes the argument "data"
// (reference section 0.2); anything but an object or a list, text that is not
// JSON and text that check refuses is a DataError.
func ArgsJSON(text []byte) (Args, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return Args{}, nil
	}
	if err := check(text); err != nil {
		return Args{}, fault.Invalid("DataError", "Invalid request body: %s", fault.From(err).Message)
	}
	switch text[0] {
	case '{':
		return Args{text: text}, nil
	case '[':
		wrapped := make([]byte, 0, len(text)+9)
		wrapped = append(wrapped, `{"data":`...)
		wrapped = append(wrapped, text...)
		return Args{text: append(wrapped, '}')}, nil
	}
	return Args{}, fault.Invalid("DataError", "The request body must be a JSON object")
}

// ArgsMap takes arguments that are already values, such as those of another
// method.
func ArgsMap(m map[string]any) Args { return Args{decoded: m} }

// ArgsTexts takes the arguments of a query string or a form. Of those with the
// same name the first counts. The list is not the giver's any more.
func ArgsTexts(list []Text) Args {
	if len(list) > 1 {
		slices.SortStableFunc(list, func(a, b Text) int { return strings.Compare(a.Name, b.Name) })
		list = slices.CompactFunc(list, func(a, b Text) bool { return a.Name == b.Name })
	}
	return Args{texts: list}
}

// JSON returns the arguments as the text of a JSON object.
func (a *Args) JSON() ([]byte, error) {
	switch {
	case a.text != nil:
	case a.texts != nil:
		a.text = appendTexts(nil, a.texts)
	case len(a.decoded) == 0:
		return []byte("{}"), nil
	default:
		text, err := json.Marshal(a.decoded)
		if err != nil {
			return nil, fault.Wrap(fault.Validation, "DataError", err, "The arguments have no JSON form")
		}
		a.text = text
	}
	return a.text, nil
}

// Map returns the arguments as values: string, bool, nil, json.Number, []any
// and map[string]any. The caller must not change it.
func (a *Args) Map() map[string]any {
	switch {
	case a.decoded != nil:
	case a.texts != nil:
		a.decoded = make(map[string]any, len(a.texts))
		for _, t := range a.texts {
			a.decoded[t.Name] = t.Value
		}
	case a.text != nil:
		v, _ := unchecked(a.text) // ArgsJSON has checked it
		a.decoded, _ = v.(map[string]any)
	}
	return a.decoded
}

// Texts are the arguments, each name once, where all of them are known to be
// text; nil where that is not known. The caller must not change them.
func (a *Args) Texts() []Text { return a.texts }

// Get returns one argument; nil when it is absent.
func (a *Args) Get(name string) any { return a.Map()[name] }

// appendTexts appends the JSON of texts.
func appendTexts(dst []byte, texts []Text) []byte {
	room := 2
	for _, t := range texts {
		room += len(t.Name) + len(t.Value) + len(`"":"",`)
	}
	dst = append(slices.Grow(dst, room), '{')
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(doctype.AppendString(dst, t.Name), ':')
		dst = doctype.AppendString(dst, t.Value)
	}
	return append(dst, '}')
}

// Text returns an argument as text: a string as it is, a number or a boolean as
// JSON writes it, anything else empty.
func (a *Args) Text(name string) string {
	switch v := a.Get(name).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "1"
		}
		return "0"
	}
	return ""
}

// Need is Text for an argument that a method cannot do without; a missing one
// is a TypeError.
func (a *Args) Need(name string) (string, error) {
	if s := a.Text(name); s != "" {
		return s, nil
	}
	return "", fault.Invalid("TypeError", "Missing required argument: %s", name)
}

// fresh is a copy for another attempt: what a method did to the values of the
// last one is not seen.
func (a Args) fresh() Args {
	if a.text != nil || a.texts != nil {
		a.decoded = nil
	}
	return a
}

// Without is the arguments without those named.
func (a *Args) Without(names ...string) Args {
	if a.text != nil && !mentions(a.text, names) {
		return *a
	}
	all := a.Map()
	if !slices.ContainsFunc(names, func(name string) bool { _, there := all[name]; return there }) {
		return *a // the text stays as it came
	}
	kept := maps.Clone(all)
	for _, name := range names {
		delete(kept, name)
	}
	return Args{decoded: kept}
}

// mentions reports whether text may hold one of the names as a key. A key
// spelled with escapes is decoded to be sure.
func mentions(text []byte, names []string) bool {
	if bytes.Contains(text, []byte(`\u`)) {
		return true
	}
	for _, name := range names {
		if bytes.Contains(text, []byte(`"`+name+`"`)) {
			return true
		}
	}
	return false
}
