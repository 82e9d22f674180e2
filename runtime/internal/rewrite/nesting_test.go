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
		{"all the bytes there may be", 1, 20_000_000, block, true},
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
