// Package sourcemap tells which line of a source an instruction of a module is from.
//
// Toolchains say so in DWARF or in a source map, large formats made for debuggers.
// A server reads neither: who builds a module turns them into a Table, which travels
// in a custom section. An offset is counted from the start of the code section's
// contents, as in DWARF for WebAssembly.
package sourcemap

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
)

// Section is the name of the custom section.
const Section = "armature.lines"

// Row says where the instructions from an offset up to that of the next row are
// from. Line 0 is nowhere.
type Row struct {
	Offset       uint32
	File         uint32 // index into Files
	Line, Column uint32 // from 1; column 0 is unknown
}

// Table is the places of a module's instructions.
type Table struct {
	Files []string
	Rows  []Row // in the order of their offsets
}

// Place is a place in a source.
type Place struct {
	File         string
	Line, Column int
}

// At is the row that an offset belongs to; one without a line if there is none.
func (t *Table) At(offset uint32) Row {
	if i := sort.Search(len(t.Rows), func(i int) bool { return t.Rows[i].Offset > offset }) - 1; i >= 0 {
		return t.Rows[i]
	}
	return Row{}
}

// Find returns the place of the instruction at an offset.
func (t *Table) Find(offset uint32) (Place, bool) {
	r := t.At(offset)
	if r.Line == 0 {
		return Place{}, false
	}
	return Place{t.Files[r.File], int(r.Line), int(r.Column)}, true
}

// sorted puts the rows in order and drops those that say nothing new.
func (t *Table) sorted() *Table {
	slices.SortStableFunc(t.Rows, func(a, b Row) int { return cmp.Compare(a.Offset, b.Offset) })
	var kept []Row
	for i, r := range t.Rows {
		if i+1 < len(t.Rows) && t.Rows[i+1].Offset == r.Offset && t.Rows[i+1].Line != 0 {
			continue // the last one of an offset counts
		}
		if n := len(kept); n > 0 && kept[n-1].Offset == r.Offset {
			continue // a place beats the end of another sequence
		}
		if n := len(kept); n == 0 || kept[n-1].File != r.File || kept[n-1].Line != r.Line || kept[n-1].Column != r.Column {
			kept = append(kept, r)
		}
	}
	t.Rows = kept
	return t
}

// version begins the section.
const version = 1

// The most that is read of a section: rows take 16 bytes in memory.
const (
	maxRows  = 1 << 20
	maxFiles = 1 << 14
	maxName  = 1 << 10
)

// Encode writes the contents of the section.
func (t *Table) Encode() []byte {
	b := []byte{version}
	b = binary.AppendUvarint(b, uint64(len(t.Files)))
	for _, name := range t.Files {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	b = binary.AppendUvarint(b, uint64(len(t.Rows)))
	var last Row
	for _, r := range t.Rows {
		b = binary.AppendUvarint(b, uint64(r.Offset-last.Offset))
		b = binary.AppendUvarint(b, uint64(r.File))
		b = binary.AppendVarint(b, int64(r.Line)-int64(last.Line))
		b = binary.AppendUvarint(b, uint64(r.Column))
		last = r
	}
	return b
}

var errMalformed = errors.New("the section " + Section + " is malformed")

// Decode reads the contents of the section, which may be anybody's.
func Decode(b []byte) (*Table, error) {
	r := &reader{b: b}
	if r.unsigned(255) != version {
		return nil, errMalformed
	}
	t := &Table{}
	for range r.unsigned(maxFiles) {
		t.Files = append(t.Files, r.text(r.unsigned(maxName)))
	}
	rows := r.unsigned(maxRows)
	if rows > uint64(len(r.b)) { // each takes more than a byte
		return nil, errMalformed
	}
	t.Rows = make([]Row, 0, rows)
	var last Row
	for range rows {
		row := Row{Offset: last.Offset + uint32(r.unsigned(1<<31)), File: uint32(r.unsigned(maxFiles))}
		line := int64(last.Line) + r.signed()
		row.Line, row.Column = uint32(line), uint32(r.unsigned(1<<31))
		if r.bad || line < 0 || line > 1<<31 || row.Offset < last.Offset || int(row.File) >= len(t.Files) {
			return nil, errMalformed
		}
		t.Rows = append(t.Rows, row)
		last = row
	}
	if r.bad || len(r.b) > 0 {
		return nil, errMalformed
	}
	return t, nil
}

// reader reads numbers and text, and notes when something was wrong.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) unsigned(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || v > 1<<32 || v < -1<<32 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) text(n uint64) string {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}
