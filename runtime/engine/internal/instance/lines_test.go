package instance_test

import (
	"slices"
	"strings"
	"testing"

	"armature/runtime/engine/internal/instance"
)

// However a guest cuts what it prints, the lines are the same.
func TestLines(t *testing.T) {
	const longest = 4 << 10
	long := strings.Repeat("x", longest)
	tests := []struct {
		name   string
		writes []string
		want   []string
	}{
		{"a line at once", []string{"one\n"}, []string{"one"}},
		{"several lines at once", []string{"one\ntwo\n\nfour\n"}, []string{"one", "two", "", "four"}},
		{"a line in pieces", []string{"o", "n", "e\ntw", "o\n"}, []string{"one", "two"}},
		{"a last line without an end", []string{"one\ntwo"}, []string{"one", "two"}},
		{"nothing", nil, nil},
		{"a line that is too long", []string{long + "yz\n"}, []string{long}},
		{"one that is too long in pieces", []string{long[:longest-1], "xyz", "\n"}, []string{long, "yz"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l instance.Lines
			var got []string
			emit := func(line []byte) { got = append(got, string(line)) }
			for _, w := range tt.writes {
				l.Write([]byte(w), emit)
			}
			l.Flush(emit)
			l.Flush(emit) // which has nothing more
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
