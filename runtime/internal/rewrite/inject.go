package rewrite

// Functions we add behind the guest's own.
const (
	helperCharge = iota // (length) -> length: charge a bulk operation
	helperFill          // memory.fill in pieces
	helperCopy          // memory.copy in pieces
	helperCount
)

// detour is a function that interrupts another one at its entry: it calls the
// host, takes the entry's charge back, and calls the function again.
type detour struct {
	own     int // the function, by own index
	charged int64
}

// detour adds a detour and returns its index; the charge is known later.
func (m *module) detour(own int) uint32 {
	m.detours = append(m.detours, detour{own: own})
	return m.helper(helperCount + len(m.detours) - 1)
}

// addedType and addedBody are the type and code of a function we add, by number
// behind the guest's own.
func (m *module) addedType(i int) uint32 {
	if i < helperCount {
		return m.addType(helperTypes[i].params, helperTypes[i].results)
	}
	return m.funcs[m.detours[i-helperCount].own]
}

func (m *module) addedBody(i int) []byte {
	if i < helperCount {
		return m.helperBody(i)
	}
	d := m.detours[i-helperCount]
	b := putU([]byte{0, opCall}, uint64(m.yieldFunc()))
	b = appendPlus(b, opGlobalGet, m.meter(), d.charged)
	b = putU(append(b, opGlobalSet), uint64(m.meter()))
	for p := range m.types[m.funcs[d.own]].params {
		b = putU(append(b, opLocalGet), uint64(p))
	}
	b = putU(append(b, opCall), uint64(m.shifted(uint32(len(m.imports)+d.own))))
	return append(b, opEnd)
}

// added is how many functions we add.
func (m *module) added() int { return helperCount + len(m.detours) }

// chunk is the largest piece of a bulk operation, in bytes: nothing can be
// interrupted for as long as one takes.
const chunk = 1 << 20

// bulkShift makes four bytes cost one unit.
const bulkShift = 2

func (m *module) yieldFunc() uint32   { return uint32(len(m.imports)) }
func (m *module) helper(h int) uint32 { return uint32(len(m.imports) + 1 + len(m.funcs) + h) }
func (m *module) meter() uint32       { return uint32(len(m.globals)) }

// blockOf is the block type of a block with these results.
func (m *module) blockOf(rs []byte) int64 {
	switch len(rs) {
	case 0:
		return -0x40
	case 1:
		return int64(rs[0]) - 0x80
	}
	return int64(m.addType(nil, rs))
}

var helperTypes = [helperCount]funcType{
	helperCharge: {params: []byte{0x7f}, results: []byte{0x7f}},
	helperFill:   {params: []byte{0x7f, 0x7f, 0x7f}},
	helperCopy:   {params: []byte{0x7f, 0x7f, 0x7f}},
}

// addType returns the index of a function type, adding it behind the guest's
// own if need be.
func (m *module) addType(params, results []byte) uint32 {
	for i := m.ownTypes; i < len(m.types); i++ {
		if t := m.types[i]; string(t.params) == string(params) && string(t.results) == string(results) {
			return uint32(i)
		}
	}
	m.types = append(m.types, funcType{params, results})
	return uint32(len(m.types) - 1)
}

// appendPlus puts a global or local with a constant added or subtracted on the
// stack.
func appendPlus(b []byte, get byte, index uint32, n int64) []byte {
	b = putU(append(b, get), uint64(index))
	if n < 0 {
		return append(putS(append(b, opI64Const), -n), opI64Sub)
	}
	return append(putS(append(b, opI64Const), n), opI64Add)
}

// appendSave stores a local as the meter, appendRestore the reverse.
func (m *module) appendSave(b []byte, local uint32) []byte {
	b = putU(append(b, opLocalGet), uint64(local))
	return putU(append(b, opGlobalSet), uint64(m.meter()))
}

func (m *module) appendRestore(b []byte, local uint32) []byte {
	b = putU(append(b, opGlobalGet), uint64(m.meter()))
	return putU(append(b, opLocalSet), uint64(local))
}

// helperBody returns the code of a helper, its size excluded.
func (m *module) helperBody(h int) []byte {
	if h == helperCharge {
		return m.chargeBody()
	}
	if !m.memory {
		return []byte{0, opUnreachable, opEnd}
	}
	if h == helperFill {
		return m.fillBody()
	}
	return m.copyBody()
}

// chargeBody: fuel -= n >> bulkShift; check; return n.
func (m *module) chargeBody() []byte {
	b := []byte{0}
	b = putU(append(b, opGlobalGet), uint64(m.meter()))
	b = append(b, opLocalGet, 0, opI64ExtendU, opI64Const, bulkShift, opI64ShrU, opI64Const, FuelShift, opI64Shl, opI64Sub)
	b = putU(append(b, opGlobalSet), uint64(m.meter()))
	b = putU(append(b, opGlobalGet), uint64(m.meter()))
	b = append(b, opI64Const, 0, opI64LtS, opIf, blockEmpty, opCall)
	b = append(putU(b, uint64(m.yieldFunc())), opEnd)
	return append(b, opLocalGet, 0, opEnd)
}

// Locals of the two helpers that work in pieces.
const (
	locDest = iota
	locFrom // or the value to fill with
	locLeft
	locStep
)

// appendStep sets step to the smaller of left and chunk and charges it.
func (m *module) appendStep(b []byte) []byte {
	b = putS(append(b, opI32Const), chunk)
	b = append(b, opLocalGet, locLeft, opLocalGet, locLeft)
	b = putS(append(b, opI32Const), chunk)
	b = append(b, opI32GtU, opSelect)
	b = putU(append(b, opCall), uint64(m.helper(helperCharge)))
	return append(b, opLocalSet, locStep)
}

// fillBody fills from the start. An operation that leaves the memory traps at
// the piece that does; what was written before is undone with the call.
func (m *module) fillBody() []byte {
	b := []byte{1, 1, 0x7f, opLoop, blockEmpty}
	b = m.appendStep(b)
	b = append(b, opLocalGet, locDest, opLocalGet, locFrom, opLocalGet, locStep, opMisc, miscMemoryFill, 0)
	b = append(b, opLocalGet, locDest, opLocalGet, locStep, opI32Add, opLocalSet, locDest)
	b = append(b, opLocalGet, locLeft, opLocalGet, locStep, opI32Sub, opLocalTee, locLeft)
	return append(b, opBrIf, 0, opEnd, opEnd)
}

// copyBody copies from the end when the destination is behind the source, so
// that overlapping ranges come out as in one piece, and else from the start.
func (m *module) copyBody() []byte {
	whole := []byte{opLocalGet, locDest, opLocalGet, locFrom, opLocalGet, locLeft, opMisc, miscMemoryCopy, 0, 0}

	// Small or hopeless: one piece. Hopeless matters: from the end, the address
	// of the last piece could wrap around and be valid.
	b := []byte{1, 1, 0x7f}
	b = append(b, opLocalGet, locLeft)
	b = putS(append(b, opI32Const), chunk)
	b = append(b, opI32LeU)
	for _, ptr := range []byte{locDest, locFrom} {
		b = append(b, opLocalGet, ptr, opI64ExtendU, opLocalGet, locLeft, opI64ExtendU, opI64Add)
		b = append(b, opMemorySize, 0, opI64ExtendU, opI64Const, 16, opI64Shl, opI64GtU, opI32Or)
	}
	b = append(b, opIf, blockEmpty)
	b = m.appendStep(b)
	b = append(append(b, whole...), opReturn, opEnd)

	b = append(b, opLocalGet, locDest, opLocalGet, locFrom, opI32LeU, opIf, blockEmpty)
	b = append(b, opLoop, blockEmpty)
	b = m.appendStep(b)
	b = append(b, opLocalGet, locDest, opLocalGet, locFrom, opLocalGet, locStep, opMisc, miscMemoryCopy, 0, 0)
	for _, ptr := range []byte{locDest, locFrom} {
		b = append(b, opLocalGet, ptr, opLocalGet, locStep, opI32Add, opLocalSet, ptr)
	}
	b = append(b, opLocalGet, locLeft, opLocalGet, locStep, opI32Sub, opLocalTee, locLeft, opBrIf, 0, opEnd, opElse)

	b = append(b, opLoop, blockEmpty)
	b = m.appendStep(b)
	b = append(b, opLocalGet, locLeft, opLocalGet, locStep, opI32Sub, opLocalSet, locLeft)
	for _, ptr := range []byte{locDest, locFrom} {
		b = append(b, opLocalGet, ptr, opLocalGet, locLeft, opI32Add)
	}
	b = append(b, opLocalGet, locStep, opMisc, miscMemoryCopy, 0, 0)
	return append(b, opLocalGet, locLeft, opBrIf, 0, opEnd, opEnd, opEnd)
}
