package rewrite_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"armature/runtime/internal/rewrite"
)

// nestedModule is one function, or several, of n nested structures each.
func nestedModule(functions, n int, open, shut string) []byte {
	number := func(n int) string { return string(binary.AppendUvarint(nil, uint64(n))) }
	section := func(id byte, content string) string { return string(id) + number(len(content)) + content }
	body := "\x00" + strings.Repeat(open, n) + strings.Repeat(shut, n) + "\x0b"
	return []byte("\x00asm\x01\x00\x00\x00" + section(1, "\x01\x60\x00\x00") +
		section(3, number(functions)+strings.Repeat("\x00", functions)) +
		section(10, number(functions)+strings.Repeat(number(len(body))+body, functions)))
}

// TestFunctions: a function that compiling takes too much for is refused before, by
// what is too much of it. What compilers make is far from that.
func TestFunctions(t *testing.T) {
	number := func(n int) string { return string(binary.AppendUvarint(nil, uint64(n))) }
	section := func(id byte, content string) string { return string(id) + number(len(content)) + content }
	function := func(locals int, code string) []byte {
		body := "\x01" + number(locals) + "\x7f" + code + "\x0b"
		return []byte("\x00asm\x01\x00\x00\x00" + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") +
			section(10, "\x01"+number(len(body))+body))
	}
	table := func(n int) string { return "\x41\x00\x0e" + number(n) + strings.Repeat("\x00", n+1) }
	const branch, leave, nop = "\x41\x00\x04\x40\x0b", "\x41\x00\x0d\x00", "\x01"
	tests := []struct {
		name    string
		locals  int
		code    string
		refused string // empty: it is not
	}{
		{"a large interpreter's", 100, strings.Repeat(branch, 2000) + table(1000), ""},
		{"built without optimization", 3000, strings.Repeat(branch, 500), ""},
		{"the same of a whole program", 4800, strings.Repeat(branch, 2000), ""},
		{"ifs over locals", 2000, strings.Repeat(branch, 10_000), "branches for its 2000 locals"},
		{"branches over locals", 2000, strings.Repeat(leave, 10_000), "branches for its 2000 locals"},
		{"a table", 1, table(200_000), "branch tables"},
		{"many tables", 1, strings.Repeat("\x02\x40"+table(1000)+"\x0b", 40), "branch tables"},
		{"code", 1, strings.Repeat(nop, 9<<20), "bytes of code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rewrite.Rewrite(function(tt.locals, tt.code), options)
			if tt.refused == "" && err != nil || tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
				t.Errorf("error %v, want %q", err, tt.refused)
			}
		})
	}
}

// TestNesting: what would take minutes to compile is refused before.
func TestNesting(t *testing.T) {
	const block, loop, branch, end = "\x02\x40", "\x03\x40", "\x41\x00\x04\x40", "\x0b"
	tests := []struct {
		name         string
		functions, n int
		open         string
		refused      bool
	}{
		{"the cases of a large switch", 1, 5000, block, false},
		{"many functions", 5000, 50, block, false},
		{"blocks", 1, 100_000, block, true},
		{"branches", 1, 100_000, branch, true},
		{"loops", 1, 10_000, loop, true},
		{"in many functions", 1000, 1000, block, true},
		{"loops in many functions", 1000, 200, loop, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rewrite.Rewrite(nestedModule(tt.functions, tt.n, tt.open, end), options)
			if refused := err != nil && strings.Contains(err.Error(), "nested too deep"); refused != tt.refused || !refused && err != nil {
				t.Errorf("error %v", err)
			}
		})
	}
}
