package sourcemap

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// Names says what a file is called in the table; empty leaves it out.
type Names func(file string) string

// FromDWARF makes the table of a module that brings DWARF; nil if it brings none.
func FromDWARF(wasm []byte, names Names) (*Table, error) {
	found := map[string][]byte{}
	if err := custom(wasm, func(name string, content []byte) {
		if strings.HasPrefix(name, ".debug_") {
			found[name] = content
		}
	}); err != nil {
		return nil, err
	}
	if found[".debug_line"] == nil || found[".debug_info"] == nil {
		return nil, nil
	}
	d, err := dwarf.New(found[".debug_abbrev"], nil, nil, found[".debug_info"], found[".debug_line"], nil, found[".debug_ranges"], found[".debug_str"])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{".debug_addr", ".debug_line_str", ".debug_str_offsets", ".debug_rnglists"} {
		if content := found[name]; content != nil {
			if err := d.AddSection(name, content); err != nil {
				return nil, err
			}
		}
	}
	b := newBuilder(names)
	for units := d.Reader(); ; units.SkipChildren() {
		unit, err := units.Next()
		if err != nil || unit == nil {
			return b.table.sorted(), err
		}
		if unit.Tag != dwarf.TagCompileUnit {
			continue
		}
		lines, err := d.LineReader(unit)
		if err != nil {
			return nil, err
		}
		if lines == nil {
			continue
		}
		if err := b.unit(lines); err != nil {
			return nil, err
		}
	}
}

// unit adds the lines of a unit. Sequences of functions that the linker has left
// out begin at no address.
func (b *builder) unit(lines *dwarf.LineReader) error {
	begins, dead := true, false
	for {
		var e dwarf.LineEntry
		if err := lines.Next(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if begins {
			dead = e.Address == 0 || e.Address >= 0xffff_fff0
		}
		begins = e.EndSequence
		switch {
		case dead:
		case e.EndSequence || e.File == nil:
			b.add(uint32(e.Address), "", 0, 0)
		default:
			b.add(uint32(e.Address), e.File.Name, e.Line, e.Column)
		}
	}
}

// builder collects rows.
type builder struct {
	names Names
	files map[string]uint32
	table *Table
}

func newBuilder(names Names) *builder {
	return &builder{names: names, files: map[string]uint32{}, table: &Table{Files: []string{""}}}
}

func (b *builder) add(offset uint32, file string, line, column int) {
	index, known := b.files[file]
	if !known {
		if name := b.names(file); name != "" && file != "" {
			index = uint32(len(b.table.Files))
			b.table.Files = append(b.table.Files, name)
		}
		b.files[file] = index
	}
	if index == 0 {
		line, column = 0, 0
	}
	b.table.Rows = append(b.table.Rows, Row{offset, index, uint32(max(line, 0)), uint32(max(column, 0))})
}

var errModule = errors.New("not a WebAssembly module")

// sections calls fn with the sections of a module and where their contents begin.
func sections(wasm []byte, fn func(id byte, at int, content []byte)) error {
	at := 8
	if len(wasm) < at || string(wasm[:4]) != "\x00asm" {
		return errModule
	}
	for at < len(wasm) {
		id := wasm[at]
		size, n := binary.Uvarint(wasm[at+1:])
		at += 1 + n
		if n <= 0 || size > uint64(len(wasm)-at) {
			return errModule
		}
		fn(id, at, wasm[at:at+int(size)])
		at += int(size)
	}
	return nil
}

func custom(wasm []byte, fn func(name string, content []byte)) error {
	return sections(wasm, func(id byte, _ int, content []byte) {
		size, n := binary.Uvarint(content)
		if id == 0 && n > 0 && size <= uint64(len(content)-n) {
			fn(string(content[n:n+int(size)]), content[n+int(size):])
		}
	})
}

// Embed puts the table into a module in place of its DWARF.
func (t *Table) Embed(wasm []byte) ([]byte, error) {
	out := append([]byte(nil), wasm[:min(8, len(wasm))]...)
	err := sections(wasm, func(id byte, at int, content []byte) {
		if size, n := binary.Uvarint(content); id == 0 && n > 0 && size <= uint64(len(content)-n) {
			if name := string(content[n : n+int(size)]); strings.HasPrefix(name, ".debug_") || name == Section || name == "sourceMappingURL" {
				return
			}
		}
		out = append(binary.AppendUvarint(append(out, id), uint64(len(content))), content...)
	})
	if err != nil {
		return nil, err
	}
	content := append(append(binary.AppendUvarint(nil, uint64(len(Section))), Section...), t.Encode()...)
	return append(binary.AppendUvarint(append(out, 0), uint64(len(content))), content...), nil
}
