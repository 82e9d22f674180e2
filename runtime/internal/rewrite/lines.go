package rewrite

import "armature/runtime/sourcemap"

// spot is an instruction in the code that is written, and where it was.
type spot struct {
	at   int // in emitter.out, and after splice in the new body
	from int // in the old body
}

// insert is what splice has put in front of a place, all in all.
type insert struct{ at, total int }

// note remembers an instruction that is about to be emitted.
func (e *emitter) note(in *instr) {
	if e.m.lines != nil {
		e.spots = append(e.spots, spot{len(e.out), in.start})
	}
}

// settle moves the spots to where splice has put them.
func (e *emitter) settle(before int, inserts []insert) {
	i, total := 0, 0
	for s := range e.spots {
		for i < len(inserts) && inserts[i].at <= e.spots[s].at {
			total = inserts[i].total
			i++
		}
		e.spots[s].at += before + total
	}
}

// keepLines notes the places of a function's instructions in the new code, at
// which its body begins.
func (m *module) keepLines(own, at int, spots []spot) {
	if m.lines == nil {
		return
	}
	var last sourcemap.Row
	for _, s := range spots {
		r := m.lines.At(uint32(m.bodyAt[own] + s.from))
		r.Offset = uint32(at + s.at)
		if len(m.moved) == 0 || r.File != last.File || r.Line != last.Line || r.Column != last.Column {
			m.moved = append(m.moved, r)
		}
		last = r
	}
}

// newLines is the table of the code that was written, behind which other bytes of
// its section have come.
func (m *module) newLines(behind int) *sourcemap.Table {
	if m.lines == nil {
		return nil
	}
	for i := range m.moved {
		m.moved[i].Offset += uint32(behind)
	}
	return &sourcemap.Table{Files: m.lines.Files, Rows: m.moved}
}

// Only where there is DWARF does the compiler remember which instruction its code
// is for, and show it in stack traces. This is the least there can be: one line of
// one unit, which covers everything. The offset in front of it is what counts.
func (w *writer) writeDebug() {
	for _, s := range []struct {
		name    string
		content []byte
	}{
		{".debug_abbrev", []byte{
			1, 0x11, 0, // a compile unit without children:
			0x11, 0x01, // low_pc, an address
			0x12, 0x06, // high_pc, so many bytes
			0x10, 0x17, // stmt_list, an offset
			0, 0, 0,
		}},
		{".debug_info", []byte{
			20, 0, 0, 0, 4, 0, 0, 0, 0, 0, 4, // length, version, abbreviations, size of addresses
			1, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0,
		}},
		{".debug_line", []byte{
			46, 0, 0, 0, 4, 0, 22, 0, 0, 0, // length, version, length of the header
			1, 1, 1, 1, 1, 10, // no special opcodes are used
			0, 1, 1, 1, 1, 0, 0, 0, 1, // arguments of the standard ones
			0,                  // no folders
			'g', 0, 0, 0, 0, 0, // one file
			0, 5, 2, 1, 0, 0, 0, 1, // address 1: a row
			0, 5, 2, 0xff, 0xff, 0xff, 0x7f, 0, 1, 1, // the end
		}},
	} {
		w.section(secCustom, append(putName(nil, s.name), s.content...))
	}
}
