package method_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"armature/core/fault"
	"armature/core/method"
)

func TestArgsJSON(t *testing.T) {
	tests := []struct {
		text string
		want string // as JSON writes it; empty: refused
	}{
		{``, `{}`},
		{`  `, `{}`},
		{`{}`, `{}`},
		{` {"a": 1} `, `{"a": 1}`},
		{`[1,2]`, `{"data":[1,2]}`},
		{`{"a":"\\u0000"}`, `{"a":"\\u0000"}`},
		{`{"a":"\u0001"}`, `{"a":"\u0001"}`},
		{`5`, ``},
		{`"x"`, ``},
		{`null`, ``},
		{`{`, ``},
		{`{"a":1} {}`, ``},
		{`{"a":"` + "\x00" + `"}`, ``},
		{`{"a":"\u0000"}`, ``},
		{`{"a":"\\\u0000"}`, ``},
		{`{"\u0000":1}`, ``},
		{"{\"a\":\"\xff\"}", ``},
		{strings.Repeat("[", 100) + strings.Repeat("]", 100), ``},
		{strings.Repeat("[", 20000), ``},
		{"[" + strings.Repeat("0,", 600_000) + "0]", ``},
	}
	for _, tt := range tests {
		name := tt.text
		if len(name) > 40 {
			name = name[:40]
		}
		t.Run(name, func(t *testing.T) {
			a, err := method.ArgsJSON([]byte(tt.text))
			if tt.want == "" {
				if e := fault.From(err); e == nil || e.ExcType() != "DataError" {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, err := a.JSON(); err != nil || string(text) != tt.want {
				t.Errorf("got %s, %v", text, err)
			}
		})
	}
}

func TestArgsText(t *testing.T) {
	a, err := method.ArgsJSON([]byte(`{"s":"x","n":2.50,"t":true,"f":false,"l":[1],"z":null}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"s": "x", "n": "2.50", "t": "1", "f": "0", "l": "", "z": "", "none": ""} {
		if got := a.Text(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := a.Need("none"); fault.From(err).ExcType() != "TypeError" {
		t.Errorf("got %v", err)
	}
}

func TestArgsWithout(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"a":1}`, `{"a":1}`},
		{`{"a":1,"flags":2}`, `{"a":1}`},
		{`{"flags":2}`, `{}`},
		{`{"a":"flags"}`, `{"a":"flags"}`},
		{`{"a":{"flags":1}}`, `{"a":{"flags":1}}`},
		{`{"\u0066lags":1,"b":2}`, `{"b":2}`},
	}
	for _, tt := range tests {
		a, err := method.ArgsJSON([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		b := a.Without("flags", "_")
		if text, err := b.JSON(); err != nil || string(text) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.text, text, err, tt.want)
		}
		if _, there := b.Map()["flags"]; there {
			t.Errorf("%s: flags is still there", tt.text)
		}
	}
}

// FuzzArgsJSON: whatever is accepted is an object, says the same as text and as
// values, and loses exactly what is asked for.
func FuzzArgsJSON(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `[1,{"b":null}]`, `{"a":"\u0000"}`, `{"flags":{"x":[1.5e3]}}`, `{"\ud800":"\\"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := method.ArgsJSON(text)
		if err != nil {
			if fault.KindOf(err) != fault.Validation {
				t.Fatalf("not a validation fault: %v", err)
			}
			return
		}
		out, err := a.JSON()
		if err != nil || !json.Valid(out) {
			t.Fatalf("%q became %q, %v", text, out, err)
		}
		again, err := method.ArgsJSON(out)
		if err != nil || !reflect.DeepEqual(normal(again.Map()), normal(a.Map())) {
			t.Fatalf("%q became %v and then %v, %v", text, a.Map(), again.Map(), err)
		}
		less := a.Without("flags")
		if _, there := less.Map()["flags"]; there {
			t.Fatalf("%q keeps flags", text)
		}
		if _, err := less.JSON(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestArgsTexts(t *testing.T) {
	tests := []struct {
		name  string
		texts []method.Text
		want  string
	}{
		{"none", nil, `{}`},
		{"by name", []method.Text{{"b", "2"}, {"a", "1"}}, `{"a":"1","b":"2"}`},
		{"the first counts", []method.Text{{"a", "1"}, {"b", "x"}, {"a", "2"}}, `{"a":"1","b":"x"}`},
		{"escapes", []method.Text{{`"`, "<a href=\"x\">\n\x01&"}}, `{"\"":"<a href=\"x\">\n\u0001&"}`},
		{"no name", []method.Text{{"", ""}}, `{"":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := method.ArgsTexts(tt.texts)
			if text, err := a.JSON(); err != nil || string(text) != tt.want {
				t.Errorf("got %s, %v, want %s", text, err, tt.want)
			}
			less := a.Without("a")
			if _, there := less.Map()["a"]; there || a.Get("b") != less.Get("b") {
				t.Errorf("%v has become %v", a.Map(), less.Map())
			}
		})
	}
}

// FuzzArgsTexts: the text and the values say what a map marshalled by
// encoding/json says.
func FuzzArgsTexts(f *testing.F) {
	f.Add("name", "x", "name", "y", "a", "b")
	f.Add("\u2028", "\x00<&>", "\"\\", "\t\b\f", "", "\U0001f600")
	f.Add("\xff", "\xed\xa0\x80", "", "", "\xff", "z")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2, name3, value3 string) {
		list := []method.Text{{name1, value1}, {name2, value2}, {name3, value3}}
		values := map[string]any{}
		for _, text := range list {
			// What is not UTF-8 the edge refuses; two such names could become one.
			if !utf8.ValidString(text.Name) {
				return
			}
			if _, taken := values[text.Name]; !taken {
				values[text.Name] = text.Value
			}
		}
		marshalled, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		a := method.ArgsTexts(list)
		text, err := a.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var got, want map[string]any
		if err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal(marshalled, &want)); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %s, want %s, %v", list, text, marshalled, err)
		}
		if !reflect.DeepEqual(a.Map(), values) {
			t.Fatalf("%q became %v, want %v", list, a.Map(), values)
		}
	})
}

// normal makes no difference between no arguments and none.
func normal(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
