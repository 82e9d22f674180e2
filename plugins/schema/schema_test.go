package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/method"
	"armature/plugins/schema"
)

const order = `{
	"type": "object",
	"required": ["name", "qty"],
	"additionalProperties": false,
	"properties": {
		"name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-zé]+$"},
		"qty": {"type": "integer", "minimum": 1, "maximum": 10},
		"price": {"type": ["number", "null"]},
		"open": {"type": "boolean"},
		"state": {"enum": ["new", 1, null]},
		"tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
		"at": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": {"type": "string"}},
		"never": false,
		"any": {}
	}
}`

func compile(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCheck(t *testing.T) {
	s := compile(t, order)
	tests := []struct{ with, want, excType string }{
		{``, "", ""},
		{`, "price": 1.5, "open": true, "state": 1.0, "tags": ["a"], "at": {"x": 1, "y": "z"}, "any": [{}]`, "", ""},
		{`, "price": null, "state": null`, "", ""},
		{`, "name": "zoé"`, "", ""},
		{`, "qty": 2.0`, "", ""},
		{`, "name": 5`, "name: must be of type string, not integer", schema.TypeError},
		{`, "name": "z"`, "name: must have at least 2 characters", ""},
		{`, "name": "abcdef"`, "name: must have at most 5 characters", ""},
		{`, "name": "a-b"`, "name: must match", ""},
		{`, "qty": 1.5`, "qty: must be of type integer, not number", schema.TypeError},
		{`, "qty": 0`, "qty: must be at least 1", ""},
		{`, "qty": 11`, "qty: must be at most 10", ""},
		{`, "qty": 1e400`, "qty: must be of type integer", schema.TypeError},
		{`, "price": "1"`, "price: must be of type number or null, not string", schema.TypeError},
		{`, "state": "old"`, `state: must be one of "new", 1, null`, ""},
		{`, "tags": []`, "tags: must have at least 1 entries", ""},
		{`, "tags": ["a", "b", "c"]`, "tags: must have at most 2 entries", ""},
		{`, "tags": ["a", 1]`, "tags[1]: must be of type string", schema.TypeError},
		{`, "at": {"x": "y"}`, "at.x: must be of type number", schema.TypeError},
		{`, "at": {"z": 1}`, "at.z: must be of type string", schema.TypeError},
		{`, "never": 1`, "never: is not allowed", ""},
		{`, "more": 1`, "more: is not allowed", ""},
	}
	for _, tt := range tests {
		err := s.Check(decode(t, `{"name": "ab", "qty": 1`+tt.with+`}`))
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.with, err)
			}
			continue
		}
		f := fault.From(err)
		if err == nil || !strings.Contains(f.Message, tt.want) || f.Type != tt.excType || f.Kind != fault.Validation {
			t.Errorf("%s: %v, want %q", tt.with, err, tt.want)
		}
	}
	if err := s.Check(decode(t, `{"name": "ab"}`)); err == nil || !strings.Contains(err.Error(), "qty: is missing") {
		t.Errorf("without qty: %v", err)
	}
	if err := s.Check(decode(t, `[]`)); err == nil || !strings.Contains(err.Error(), "arguments: must be of type object") {
		t.Errorf("a list: %v", err)
	}
}

func TestConvert(t *testing.T) {
	s := compile(t, order)
	n := func(s string) json.Number { return json.Number(s) }
	tests := []struct {
		name string
		in   string
		want any
	}{
		{"qty", "3", n("3")}, {"qty", "3.5", "3.5"}, {"qty", "three", "three"}, {"qty", "3 4", "3 4"},
		{"price", "1.5", n("1.5")}, {"price", "", nil}, {"price", "null", nil},
		{"open", "1", true}, {"open", "False", false}, {"open", "", false}, {"open", "yes", "yes"},
		{"tags", `["a"]`, []any{"a"}}, {"tags", "a", "a"},
		{"at", `{"x": 1}`, map[string]any{"x": n("1")}},
		{"name", "12", "12"}, {"state", "1", "1"}, {"any", "1", "1"}, {"unknown", "1", "1"},
	}
	for _, tt := range tests {
		in := map[string]any{tt.name: tt.in, "kept": n("1")}
		got, changed := s.Convert(in)
		if !reflect.DeepEqual(got[tt.name], tt.want) || got["kept"] != n("1") {
			t.Errorf("%s=%q became %#v, want %#v", tt.name, tt.in, got[tt.name], tt.want)
		}
		if changed != (tt.want != any(tt.in)) {
			t.Errorf("%s=%q: changed is %v", tt.name, tt.in, changed)
		}
		if in[tt.name] != tt.in {
			t.Errorf("%s: the arguments themselves were changed", tt.name)
		}
	}
}

// TestAdmitsTexts: what is admitted at once is what Convert leaves alone and
// Check passes.
func TestAdmitsTexts(t *testing.T) {
	schemas := []string{
		order, ``, `{}`, `false`, `{"type": "object"}`, `{"type": ["array", "object"]}`, `{"type": "array"}`, `{"enum": [{"a": "1"}]}`,
		`{"required": ["a"]}`, `{"required": ["a", "a"]}`, `{"properties": {"a": {"type": "string", "minLength": 2, "maxLength": 3}}}`,
		`{"properties": {"a": {"pattern": "^x"}}, "additionalProperties": false}`,
		`{"properties": {"a": {"type": ["string", "integer"]}}, "additionalProperties": {"type": "integer"}}`,
		`{"properties": {"a": {"enum": ["xx", "1"]}, "b": false}}`, `{"properties": {"a": {"type": "boolean"}}}`,
	}
	values := []string{"", "1", "xx", "true", "null", "Zoë!"}
	admitted := 0
	for _, text := range schemas {
		s := compile(t, text)
		for _, a := range values {
			for _, b := range values {
				for _, args := range [][]method.Text{
					texts(), texts("a", a), texts("b", b), texts("a", a, "b", b), texts("name", a), texts("name", a, "qty", b),
				} {
					if !s.AdmitsTexts(args) {
						continue
					}
					admitted++
					m := map[string]any{}
					for _, arg := range args {
						m[arg.Name] = arg.Value
					}
					converted, changed := s.Convert(m)
					if err := s.Check(converted); changed || err != nil {
						t.Errorf("%s admits %q, which is converted: %v, and checked: %v", text, args, changed, err)
					}
				}
			}
		}
	}
	if admitted < 100 {
		t.Errorf("only %d are admitted", admitted)
	}
	s := compile(t, `{"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]}`)
	if !s.AdmitsTexts(texts("name", "x")) || s.AdmitsTexts(texts()) || s.AdmitsTexts(texts("name", "")) {
		t.Error("a name is wanted, and nothing else")
	}
}

func texts(pairs ...string) (list []method.Text) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, method.Text{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

func TestCompileRefuses(t *testing.T) {
	tests := map[string]string{
		`[]`:                      "expected a JSON Schema",
		`{"type": "text"}`:        "type: expected one of object",
		`{"type": 1}`:             "type: expected a name",
		`{"pattern": "("}`:        "pattern:",
		`{"required": "name"}`:    "required",
		`{"items": {"type": ""}}`: "at /items: type",
		strings.Repeat(`{"items":`, 40) + `{}` + strings.Repeat(`}`, 40): "too deep",
		`{"properties": {"a": {"minimum": "1"}}}`:                        "at /properties/a",
	}
	for text, want := range tests {
		if _, err := schema.Compile(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"", "true", "{}", `{"$comment": "x", "format": "email"}`} {
		s := compile(t, text)
		if err := s.Check(decode(t, `{"a": 1}`)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
