package sourcemap

import (
	"encoding/json"
	"errors"
	"strings"
)

var errMap = errors.New("not a source map of a WebAssembly module")

// FromSourceMap makes the table of a module with a source map (version 3). There a
// module is one line, and its bytes are the columns.
func FromSourceMap(wasm, text []byte, names Names) (*Table, error) {
	var m struct {
		Version  int      `json:"version"`
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Version != 3 {
		return nil, errMap
	}
	const codeSection = 10
	begin, end := 0, 0
	if err := sections(wasm, func(id byte, at int, content []byte) {
		if id == codeSection {
			begin, end = at, at+len(content)
		}
	}); err != nil {
		return nil, err
	}
	b := newBuilder(names)
	var at [4]int // column, source, line, source column
	for segment := range strings.SplitSeq(m.Mappings, ",") {
		fields, err := vlq(segment)
		if err != nil {
			return nil, err
		}
		for i := range min(len(fields), len(at)) {
			at[i] += fields[i]
		}
		if at[0] < begin || at[0] >= end {
			continue
		}
		switch {
		case len(fields) < 4:
			b.add(uint32(at[0]-begin), "", 0, 0)
		case at[1] < 0 || at[1] >= len(m.Sources):
			return nil, errMap
		default:
			b.add(uint32(at[0]-begin), m.Sources[at[1]], at[2]+1, at[3]+1)
		}
	}
	return b.table.sorted(), nil
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// vlq reads the numbers of a segment: five bits to a digit, the lowest first, and
// the sign in the lowest bit of all.
func vlq(segment string) (numbers []int, err error) {
	value, shift := 0, 0
	for i := range len(segment) {
		digit := strings.IndexByte(base64Digits, segment[i])
		if digit < 0 || shift > 30 {
			return nil, errMap
		}
		value |= digit & 31 << shift
		if shift += 5; digit&32 != 0 {
			continue
		}
		if value&1 != 0 {
			value = -(value >> 1)
		} else {
			value >>= 1
		}
		numbers = append(numbers, value)
		value, shift = 0, 0
	}
	return numbers, nil
}
