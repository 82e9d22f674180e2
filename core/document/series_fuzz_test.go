package document

import (
	"strings"
	"testing"
	"time"

	"armature/core/doctype"
)

// FuzzSeries: any pattern is read to parts, and what they give is made of the
// pattern's own text, the date, the fields and the counter.
func FuzzSeries(f *testing.F) {
	for _, p := range []string{"ABC-{MM}-{word}-{#####}", "ABC-.YYYY.-.#####", "{", "}", "}{", "{}", "{{#}}", "..", ".#.#.", "x.word.", "{word}{##}{#}",
		"timestamp.", "é.##", "{WW}{JJJ}{DD}{YY}", "#"} {
		f.Add(p, true)
		f.Add(p, false)
	}
	dt := doctype.NewDocType(doctype.DocType{Name: "Fuzzed"}, []*doctype.Field{{Name: "word", Type: "Data", Kind: doctype.Text, Column: "word"}})
	at := time.Date(2024, 2, 29, 13, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, pattern string, dotted bool) {
		if len(pattern) > 200 {
			return
		}
		parts := formatParts(pattern)
		if dotted {
			parts = dottedParts(pattern, dt)
		}
		doc := doctype.NewDocument(dt)
		doc.Put("word", "W")
		counters := 0
		name, err := resolveSeries(doc, parts, at, func(prefix string, width int) (string, error) {
			if counters++; width < 1 || width > len(pattern)+5 {
				t.Errorf("a counter of width %d", width)
			}
			return strings.Repeat("7", width), nil
		})
		if err != nil {
			return // a field that does not exist
		}
		if dotted && counters == 0 && !strings.Contains(pattern, "#") {
			t.Errorf("%q counts nothing", pattern)
		}
		// The longest part a pattern of two characters can give is a date's.
		if len(name) > 10*len(pattern)+20 {
			t.Errorf("%q gives %q", pattern, name)
		}
	})
}
