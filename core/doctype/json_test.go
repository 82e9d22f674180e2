package doctype_test

import (
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"

	"armature/core/doctype"
)

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "line\nbreak\ttab\x00\x1f", "emoji 🦀", "\u2028\u2029", "\xff\xfe broken", "</script>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := doctype.AppendString(nil, s)
		var got string
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q is not JSON: %v", text, err)
		}
		if utf8.ValidString(s) && got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
		if !utf8.Valid(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
	})
}

func FuzzAppendFloat(f *testing.F) {
	for _, v := range []float64{0, 1, -1, 0.1, 1e-7, 1e21, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		text := doctype.AppendFloat(nil, v)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if string(text) != "null" {
				t.Fatalf("%v printed as %s", v, text)
			}
			return
		}
		var got float64
		if err := json.Unmarshal(text, &got); err != nil || got != v {
			t.Fatalf("%v printed as %s, read as %v (%v)", v, text, got, err)
		}
	})
}

func TestAppendValue(t *testing.T) {
	field := func(typ string) *doctype.Field {
		s, _ := doctype.KindOf(typ)
		return &doctype.Field{Name: "f", Type: typ, Kind: s}
	}
	tests := []struct {
		name  string
		field *doctype.Field
		value any
		want  string
	}{
		{"null", field("Data"), nil, `null`},
		{"int", field("Int"), int64(-3), `-3`},
		{"float keeps its point", field("Float"), float64(2), `2.0`},
		{"datetime without fraction", field("Datetime"), "2026-01-02 03:04:05.000000", `"2026-01-02 03:04:05"`},
		{"datetime with fraction", field("Datetime"), "2026-01-02 03:04:05.120000", `"2026-01-02 03:04:05.120000"`},
		{"standard datetime has six digits", &doctype.Field{Standard: true, Kind: doctype.Datetime}, "2026-01-02 03:04:05.000000", `"2026-01-02 03:04:05.000000"`},
		{"time without padding", field("Time"), "03:04:05.000000", `"3:04:05"`},
		{"midnight", field("Time"), "00:00:00.500000", `"0:00:00.500000"`},
		{"afternoon", field("Time"), "13:00:00.000000", `"13:00:00"`},
		{"stored secret", field("Password"), "hunter2", `"**********"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(doctype.AppendValue(nil, tt.field, tt.value)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDocumentJSONLeavesNullsOutAndTablesIn(t *testing.T) {
	child := doctype.NewDocType(doctype.DocType{Name: "Line", Child: true}, []*doctype.Field{
		{Name: "item", Type: "Data", Kind: doctype.Text, Column: "item"},
	})
	dt := doctype.NewDocType(doctype.DocType{Name: "Order"}, []*doctype.Field{
		{Name: "note", Type: "Data", Kind: doctype.Text, Column: "note"},
		{Name: "secret", Type: "Data", Kind: doctype.Text, Column: "secret", PermLevel: 1},
		{Name: "lines", Type: "Table", Kind: doctype.Rows, Options: "Line"},
	})
	doc := doctype.NewDocument(dt)
	doc.Put("name", "O/1")
	doc.Put("secret", "hidden")

	var got map[string]any
	text := doc.AppendJSON(nil, doctype.View{Levels: 1})
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if _, there := got["note"]; there {
		t.Error("a null field is left out")
	}
	if _, there := got["secret"]; there {
		t.Error("a field above the view's level is left out")
	}
	if rows, ok := got["lines"].([]any); !ok || len(rows) != 0 {
		t.Errorf("an empty table is an empty array, got %v", got["lines"])
	}
	if got["doctype"] != "Order" || got["idx"] != 0.0 {
		t.Errorf("doctype %v, idx %v", got["doctype"], got["idx"])
	}

	row := doctype.NewDocument(child)
	row.Put("item", "bolt")
	doc.PutRows("lines", []*doctype.Document{row})
	text = doc.AppendJSON(nil, doctype.View{Levels: 3, WithNull: true})
	got = nil
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if v, there := got["note"]; !there || v != nil {
		t.Errorf("note: %v, %v", v, there)
	}
	if got["secret"] != "hidden" {
		t.Errorf("secret: %v", got["secret"])
	}
	if line := got["lines"].([]any)[0].(map[string]any); line["item"] != "bolt" || line["doctype"] != "Line" {
		t.Errorf("row: %v", line)
	}
}
