package armature

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// widen turns the whole numbers of the small codec into what encoding/json makes
// of all numbers, so that the two can be compared.
func widen(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case []any:
		for i := range v {
			v[i] = widen(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = widen(v[k])
		}
	}
	return v
}

var texts = []string{
	`null`, `true`, `false`, `0`, `-1`, `12.5`, `1e3`, `-0.25E-2`, `""`, `"a"`, `[]`, `{}`, `[1,[2,[]],{"a":{}}]`,
	`{"a":1,"b":"x","c":null,"d":[true,false],"e":{"f":1.5}}`,
	`"\u00eb\n\t\r\b\f\/\\\" \ud83d\ude00 \ud83d x \udc00"`, " \n\t{ \"a\" : [ 1 , 2 ] } \r\n",
	`"Zoë 😀"`, `9223372036854775807`, `9223372036854775808`, `{"a":1,"a":2}`,
	``, `{`, `[1,]`, `{"a"}`, `{"a":}`, `{a:1}`, `"`, `"\`, `"\x"`, `"\u12"`, `nul`, `1 2`, `[1 2]`, `-`, "\"\n\"", `]`, `{"a":1,}`,
}

func TestDecodeAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		compareDecoders(t, text)
	}
}

func compareDecoders(t *testing.T, text string) {
	t.Helper()
	got, err := decodeValue([]byte(text))
	var want any
	wantErr := json.Unmarshal([]byte(text), &want)
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%q: error %v, encoding/json %v", text, err, wantErr)
	} else if err == nil && !reflect.DeepEqual(widen(got), want) {
		t.Errorf("%q: %#v, encoding/json %#v", text, got, want)
	}
}

// What is valid is read as encoding/json reads it and survives a round trip.
func FuzzCodec(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decodeValue([]byte(text))
		var want any
		// Numbers such as 01 are read without complaint, and text that is not
		// UTF-8 is put right only when it is written.
		if json.Unmarshal([]byte(text), &want) != nil || !utf8.ValidString(text) {
			return
		}
		if err == errDepth {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		compareDecoders(t, text)
		got, _ = decodeValue([]byte(text)) // comparing has changed it
		out, ok := appendValue(nil, got)
		if !ok || !json.Valid(out) {
			t.Fatalf("%q became %q", text, out)
		}
		again, err := decodeValue(out)
		if err != nil || !reflect.DeepEqual(widen(again), widen(got)) {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
	})
}

func TestEncode(t *testing.T) {
	type point struct{ X int }
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"nil", nil, `null`},
		{"sorted", Doc{"b": 1, "a": int64(2), "c": nil}, `{"a":2,"b":1,"c":null}`},
		{"nil doc", Doc(nil), `null`},
		{"docs", []Doc{{"a": true}}, `[{"a":true}]`},
		{"escapes", "\x00\x1f\"\\\n\t\r<&>", `"\u0000\u001f\"\\\n\t\r<&>"`},
		{"bad UTF-8", "a\xffb", "\"a\ufffdb\""},
		{"floats", []any{0.0, 1.5, 1e21, 1e-7, 100000000.0}, `[0,1.5,1e+21,1e-07,100000000]`},
		{"struct", point{3}, `{"X":3}`},
		{"struct inside", Doc{"p": []any{point{3}}}, `{"p":[{"X":3}]}`},
		{"strings", []string{"a", "b"}, `["a","b"]`},
		{"raw", json.RawMessage(`{"a":1}`), `{"a":1}`},
		{"no raw", json.RawMessage(nil), `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := encode([]byte("x"), tt.in)
			if err != nil || string(got) != "x"+tt.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, v := range []any{math.NaN(), math.Inf(1), func() {}, Doc{"a": make(chan int)}, []any{math.NaN()}} {
		if got, err := encode(nil, v); err == nil {
			t.Errorf("%v became %q", v, got)
		}
	}
}

func TestDecodeIntoTypes(t *testing.T) {
	type row struct {
		N   int
		Doc Doc
	}
	var r row
	if err := decode([]byte(`{"n":1,"doc":{"count":3}}`), &r); err != nil || r.N != 1 || r.Doc["count"] != int64(3) {
		t.Errorf("struct with a Doc: %+v, %v", r, err)
	}
	var d Doc
	if err := decode([]byte(`[]`), &d); err == nil {
		t.Error("an array became a Doc")
	}
	if err := decode([]byte(`null`), &d); err != nil || d != nil {
		t.Errorf("null: %v, %v", d, err)
	}
	var docs []Doc
	if err := decode([]byte(`[{"a":1},2]`), &docs); err == nil {
		t.Error("a number became a Doc")
	}
	var s string
	if err := decode([]byte(`1`), &s); err == nil {
		t.Error("a number became a string")
	}
	buffer := []byte(`{"a":1}`)
	var raw json.RawMessage
	if err := decode(buffer, &raw); err != nil {
		t.Fatal(err)
	}
	buffer[2] = 'b'
	if string(raw) != `{"a":1}` {
		t.Errorf("raw text shares the buffer: %s", raw)
	}
	var e Event[Doc]
	if err := decode([]byte(`{"event":"validate","doc":{"a":1},"before":null}`), &e); err != nil || e.Event != "validate" || e.Doc.Int("a") != 1 || e.Before != nil {
		t.Errorf("event: %+v, %v", e, err)
	}
	if err := decode([]byte(`{"event":"validate","doc":{},"before":{"a":2}}`), &e); err != nil || e.Before == nil || e.Before.Int("a") != 2 {
		t.Errorf("event: %+v, %v", e, err)
	}
}

func TestDecodeBoundsDepth(t *testing.T) {
	if _, err := decodeValue([]byte(strings.Repeat("[", 100000))); err != errDepth {
		t.Errorf("got %v", err)
	}
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if _, err := decodeValue([]byte(deep)); err != nil {
		t.Errorf("got %v", err)
	}
	wide := "[" + strings.Repeat("[],{},", maxDepth) + "0]"
	if _, err := decodeValue([]byte(wide)); err != nil {
		t.Errorf("width counted as depth: %v", err)
	}
}
