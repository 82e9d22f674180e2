package doctype_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
)

func fieldOf(typ string) *doctype.Field {
	s, ok := doctype.KindOf(typ)
	if !ok {
		panic(typ)
	}
	return &doctype.Field{Name: "f", Label: "F", Type: typ, Kind: s}
}

func TestCoerce(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	tests := []struct {
		name    string
		typ     string
		in      any
		want    any
		excType string
	}{
		{"text", "Data", "x", "x", ""},
		{"number as text", "Data", json.Number("12"), "12", ""},
		{"null text", "Data", nil, nil, ""},
		{"object as text", "Data", map[string]any{}, nil, "DataError"},
		{"NUL", "Data", "a\x00b", nil, "DataError"},
		{"not UTF-8", "Data", "a\xff", nil, "DataError"},
		{"140 characters", "Data", strings.Repeat("é", 140), strings.Repeat("é", 140), ""},
		{"141 characters", "Data", strings.Repeat("é", 141), nil, "CharacterLengthExceededError"},
		{"long text", "Text Editor", strings.Repeat("x", 5000), strings.Repeat("x", 5000), ""},
		{"int", "Int", json.Number("7"), int64(7), ""},
		{"int from text", "Int", " 7 ", int64(7), ""},
		{"int from whole float", "Int", json.Number("3.0"), int64(3), ""},
		{"int from fraction", "Int", json.Number("3.5"), nil, "ValidationError"},
		{"int from word", "Int", "seven", nil, "ValidationError"},
		{"int null", "Int", nil, int64(0), ""},
		{"int largest", "Int", json.Number("9223372036854775807"), int64(9223372036854775807), ""},
		{"int too large", "Int", json.Number("9223372036854775808"), nil, "ValidationError"},
		{"check true", "Check", true, int64(1), ""},
		{"check text", "Check", "1", int64(1), ""},
		{"check other number", "Check", json.Number("5"), int64(1), ""},
		{"check list", "Check", []any{}, nil, "ValidationError"},
		{"float", "Float", json.Number("1.5"), 1.5, ""},
		{"float infinite", "Float", "Inf", nil, "ValidationError"},
		{"rating", "Rating", json.Number("3"), float64(1), ""},
		{"date", "Date", "2026-02-28", "2026-02-28", ""},
		{"date of datetime", "Date", "2026-02-28 10:00:00", "2026-02-28", ""},
		{"no such date", "Date", "2026-02-30", nil, "ValidationError"},
		{"empty date", "Date", "", nil, ""},
		{"datetime", "Datetime", "2026-02-28 10:11:12", "2026-02-28 10:11:12.000000", ""},
		{"datetime of date", "Datetime", "2026-02-28", "2026-02-28 00:00:00.000000", ""},
		{"datetime T", "Datetime", "2026-02-28T10:11:12.5", "2026-02-28 10:11:12.500000", ""},
		{"datetime with offset moves to the site", "Datetime", "2026-02-28T10:00:00Z", "2026-02-28 11:00:00.000000", ""},
		{"datetime number", "Datetime", json.Number("5"), nil, "ValidationError"},
		{"time", "Time", "9:05:01", "09:05:01.000000", ""},
		{"time wrong", "Time", "25:00:00", nil, "ValidationError"},
		{"JSON object", "JSON", map[string]any{"a": json.Number("1")}, `{"a":1}`, ""},
		{"JSON text as it came", "JSON", `{ "b": 1, "a": 2 }`, `{ "b": 1, "a": 2 }`, ""},
		{"not JSON", "JSON", "{", nil, "ValidationError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := doctype.Coerce(fieldOf(tt.typ), tt.in, berlin)
			if tt.excType != "" {
				var e *fault.Error
				if !errors.As(err, &e) || e.ExcType() != tt.excType {
					t.Fatalf("got %v, %v; want %s", got, err, tt.excType)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Fatalf("got %#v, %v; want %#v", got, err, tt.want)
			}
		})
	}
}

func FuzzCoerceText(f *testing.F) {
	for _, s := range []string{"", "1", "2026-01-01", "2026-01-01T00:00:00+14:00", "9999-12-31 23:59:59.9999999", "-0", "1e400", `{"a":[1]}`, "\x00"} {
		f.Add(s)
	}
	types := []string{"Data", "Int", "Check", "Float", "Rating", "Date", "Datetime", "Time", "JSON", "Text Editor"}
	f.Fuzz(func(t *testing.T, s string) {
		for _, typ := range types {
			field := fieldOf(typ)
			got, err := doctype.Coerce(field, s, time.UTC)
			if err != nil {
				if fault.KindOf(err) != fault.Validation {
					t.Fatalf("%s %q: %v is no Validation", typ, s, err)
				}
				continue
			}
			again, err := doctype.Coerce(field, got, time.UTC)
			if err != nil || again != got {
				t.Fatalf("%s %q: canonical %#v became %#v, %v", typ, s, got, again, err)
			}
			if text := doctype.AppendValue(nil, field, got); !json.Valid(text) {
				t.Fatalf("%s %q: %s is not JSON", typ, s, text)
			}
		}
	})
}

func TestFormatDatetimeIsTheLayout(t *testing.T) {
	at := time.Date(7, 1, 2, 3, 4, 5, 6_007_999, time.UTC)
	if got, want := doctype.FormatDatetime(at), at.Format(doctype.DatetimeLayout); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
