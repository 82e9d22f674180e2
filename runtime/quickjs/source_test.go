package quickjs

import (
	"runtime"
	"strings"
	"testing"
)

// TestPlaces: a map leads to the author's lines; whatever else is in its place
// leads nowhere, and at no great cost.
func TestPlaces(t *testing.T) {
	const here = "script.js:2:3"
	tests := []struct{ name, text, want string }{
		{"a map", `{"version":3,"sources":["a.ts"],"mappings":";AAUE"}`, "a.ts:11:3"},
		{"nothing", ``, here},
		{"no JSON", `{`, here},
		{"no mappings", `{"version":3,"sources":["a.ts"]}`, here},
		{"a file that is not there", `{"version":3,"sources":["a.ts"],"mappings":";AEAA"}`, here},
		{"a file before the first", `{"version":3,"sources":["a.ts"],"mappings":";AHAA"}`, ":1:1"},
		{"a section without a map", `{"version":3,"sections":[{"offset":{"line":0,"column":0}}]}`, here},
		{"deep", `{"version":3,"sections":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`, here},
		{"many lines", `{"version":3,"sources":["a.ts"],"mappings":"` + strings.Repeat(";", 7<<20) + `"}`, here},
		{"many places", `{"version":3,"sources":["a.ts"],"mappings":";` + strings.Repeat("AAAA,", 1<<20) + `"}`, here},
		{"large", `{"version":3,"sources":["a.ts"],"mappings":";AAUE","x":"` + strings.Repeat(" ", 9<<20) + `"}`, here},
		{"a long name", `{"version":3,"sources":["` + strings.Repeat("a", 1<<20) + `"],"mappings":";AAUE"}`, strings.Repeat("a", maxFile) + ":11:3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			s := &sources{text: []byte(tt.text)}
			runtime.ReadMemStats(&before)
			for range 2 {
				if got := s.place(scriptFile, 2, 3); got != tt.want {
					t.Errorf("place %.300s, want %.300s", got, tt.want)
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
				t.Errorf("it took %d MiB", used>>20)
			}
		})
	}
}

// FuzzPlaces: no map does harm.
func FuzzPlaces(f *testing.F) {
	f.Add([]byte(`{"version":3,"sources":["a.ts"],"names":["x"],"mappings":";AAUEA,CAAC"}`), 2, 3)
	f.Add([]byte(`{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":{"version":3,"sources":["a"],"mappings":"AAAA"}}]}`), 1, 1)
	f.Fuzz(func(t *testing.T, text []byte, row, column int) {
		if (&sources{text: text}).place(scriptFile, row, column) == "" {
			t.Error("no place")
		}
	})
}
