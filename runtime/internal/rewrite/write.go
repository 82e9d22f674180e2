package rewrite

// write assembles the new binary.
func (m *module) write() *Module {
	m.ownTypes = len(m.types)
	out := &Module{
		Imports: m.imports, Custom: m.custom, Start: m.start >= 0,
		HasMemory: m.memory, MinPages: m.min, MaxPages: m.max,
		Unrestorable: m.unrestorable,
	}
	// Code first: it adds types.
	code := m.writeCode()
	addedTypes := make([]uint32, m.added())
	for i := range addedTypes {
		addedTypes[i] = m.addedType(i)
	}
	yieldType := m.addType(nil, nil)

	w := &writer{b: append(make([]byte, 0, len(code)+len(code)/4), "\x00asm\x01\x00\x00\x00"...)}
	w.vector(secType, len(m.types), func(b []byte, i int) []byte {
		t := m.types[i]
		return putBytes(putBytes(append(b, 0x60), t.params), t.results)
	})
	w.vector(secImport, len(m.imports)+1, func(b []byte, i int) []byte {
		if i == len(m.imports) {
			b = putName(putName(b, m.opt.Prefix+HostModule), Yield)
			return putU(append(b, 0), uint64(yieldType))
		}
		im := m.imports[i]
		b = putName(putName(b, im.Module), im.Name)
		return putU(append(b, 0), uint64(m.impTypes[i]))
	})
	w.vector(secFunction, len(m.funcs)+len(addedTypes), func(b []byte, i int) []byte {
		if i >= len(m.funcs) {
			return putU(b, uint64(addedTypes[i-len(m.funcs)]))
		}
		return putU(b, uint64(m.funcs[i]))
	})
	m.writeTables(w)
	if m.memory {
		w.vector(secMemory, 1, func(b []byte, _ int) []byte {
			// One page more than declared: the host shrinks a memory by growing it,
			// and growing at the maximum is refused. The host's own ceiling is not
			// here but where memory is made, so that it learns of the attempt.
			return putU(putU(append(b, 1), uint64(m.min)), uint64(m.declared)+1)
		})
	}
	w.vector(secGlobal, len(m.globals)+1, func(b []byte, i int) []byte {
		if i >= len(m.globals) {
			return append(b, 0x7e, 1, opI64Const, 0, opEnd)
		}
		g := m.globals[i]
		mut := byte(0)
		if g.mut {
			mut = 1
		}
		return append(append(b, g.typ, mut), g.init...)
	})
	m.writeExports(w, out)
	if m.elements != nil {
		w.section(secElement, m.elements)
	}
	m.writeData(w, code, out)
	w.section(secCustom, m.writeNames())
	if out.Lines = m.lines; m.lines != nil {
		w.writeDebug()
	}
	out.Binary = w.b
	return out
}

type writer struct{ b, scratch []byte }

func (w *writer) section(id byte, body []byte) {
	w.b = putBytes(append(w.b, id), body)
}

func (w *writer) vector(id byte, n int, element func(b []byte, i int) []byte) {
	b := putU(w.scratch[:0], uint64(n))
	for i := range n {
		b = element(b, i)
	}
	w.scratch = b
	w.section(id, b)
}

func (m *module) writeTables(w *writer) {
	if len(m.tables) == 0 {
		return
	}
	share := m.opt.MaxTable / uint32(len(m.tables))
	w.vector(secTable, len(m.tables), func(b []byte, i int) []byte {
		t := m.tables[i]
		limit := max(min(t.max, share), t.min)
		return putU(putU(append(b, t.elem, 1), uint64(t.min)), uint64(limit))
	})
}

func (m *module) writeExports(w *writer, out *Module) {
	var all []export
	for _, x := range m.exports {
		if x.kind == 0 {
			t := m.typeOf(x.idx)
			out.Exports = append(out.Exports, Func{Name: x.name, Params: t.params, Results: t.results})
			x.idx = m.shifted(x.idx)
		}
		all = append(all, x)
	}
	for i, g := range m.globals {
		if g.mut && g.typ >= 0x7c && g.typ <= 0x7f {
			name := globalName(m.opt.Prefix, i)
			out.Globals = append(out.Globals, name)
			all = append(all, export{name, 3, uint32(i)})
		}
	}
	all = append(all, export{m.opt.Prefix + Meter, 3, m.meter()})
	if m.start >= 0 {
		all = append(all, export{m.opt.Prefix + Start, 0, m.shifted(uint32(m.start))})
	}
	w.vector(secExport, len(all), func(b []byte, i int) []byte {
		return putU(append(putName(b, all[i].name), all[i].kind), uint64(all[i].idx))
	})
}

func (m *module) writeCode() []byte {
	d, e := &decoder{}, &emitter{m: m}
	size := 0
	for _, b := range m.bodies {
		size += len(b)
	}
	code := make([]byte, 0, size+size/2+1024)
	for i := range m.bodies {
		body := e.body(i, d)
		code = putBytes(code, body)
		m.keepLines(i, len(code)-len(body), e.spots)
	}
	for i := range m.added() {
		code = putBytes(code, m.addedBody(i))
	}
	// How many there are is known only now.
	count := putU(nil, uint64(len(m.bodies)+m.added()))
	m.lines = m.newLines(len(count))
	return append(count, code...)
}

// writeData writes code and data. Active segments go to the host, unless one of
// them has a computed offset: order matters, so then all stay. A lifted segment
// leaves an empty one behind when instructions refer to segments by number.
func (m *module) writeData(w *writer, code []byte, out *Module) {
	lift := true
	for _, d := range m.data {
		lift = lift && (!d.active || d.fixed)
	}
	keep := m.usesData || !lift
	if keep {
		w.section(secDataCount, putU(nil, uint64(len(m.data))))
	}
	w.section(secCode, code)
	if lift {
		for _, d := range m.data {
			if d.active {
				out.Data = append(out.Data, Segment{d.offset, d.bytes})
			}
		}
	}
	if keep {
		w.vector(secData, len(m.data), func(b []byte, i int) []byte {
			if d := m.data[i]; !lift || !d.active {
				return append(b, d.raw...)
			}
			return append(b, 1, 0)
		})
	}
}
