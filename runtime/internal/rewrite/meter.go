package rewrite

// Less than minCharge is not worth a charge of its own: it is charged where the
// surrounding code is, whether or not it runs, up to maxFold in one place. The
// bound matters for code that jumps to one of many small pieces, as Go's does.
const (
	minCharge = 32
	maxFold   = 32
)

// maxRegion bounds what one charge can be, so that it always fits the fuel that
// the host gives at a time: a loop whose head asks for more would be interrupted
// for ever.
const maxRegion = 10_000

// mark is a place in the emitted code where a charge may go.
type mark struct {
	at     int
	cost   int64
	folded int64 // of the cost, what other marks left here
	parent int
	kind   markKind
}

type markKind byte

const (
	markEntry markKind = iota // function entry: charge, count depth, check
	markLoop                  // head of a loop without parameters: charge, leave for the check
	markCheck                 // head of another loop: charge, check
	markPlain                 // charge
)

// frame is an open block of the function being emitted.
type frame struct {
	mark    int    // the mark in force outside of it
	wrapped bool   // a loop with our loop around it
	wraps   uint32 // how many are, from the outermost block to this one
}

// emitter writes one function body with metering.
type emitter struct {
	m      *module
	f      *funcInfo
	deep   bool   // counts call depth
	local  bool   // keeps the meter in a local between calls
	temp   uint32 // our local, for the meter
	index  int
	params []byte
	out    []byte
	marks  []mark
	cur    int
	frames []frame
	spots  []spot // of the function, where there are lines
	result []byte
}

// body returns the function's new body.
func (e *emitter) body(i int, d *decoder) []byte {
	m := e.m
	e.f = &m.info[i]
	e.deep = !e.f.inline && m.deep(e.f)
	e.local = !e.f.inline && e.f.loops && (e.f.tight || e.f.calls <= 1)
	e.temp = e.f.locals
	e.out, e.marks, e.frames, e.spots, e.cur = e.out[:0], e.marks[:0], e.frames[:0], e.spots[:0], 0

	body := m.bodies[i]
	d.reader = reader{b: body, at: e.f.code, what: "code"}
	e.index = i
	e.params = m.types[m.funcs[i]].params
	results := m.types[m.funcs[i]].results
	if e.wrapped() {
		e.out = putS(append(e.out, opBlock), m.blockOf(results))
		e.out = append(e.out, opBlock, blockEmpty)
	}
	e.marks = append(e.marks, mark{at: len(e.out), parent: -1, kind: markEntry})

	var in instr
	for done := false; !done; {
		d.next(&in)
		e.note(&in)
		if !free(in.op) {
			e.marks[e.cur].cost++
		}
		done = e.instruction(&in, d, body)
		if e.marks[e.cur].cost > maxRegion {
			e.mark(markPlain)
		}
	}
	return e.splice(body)
}

// wrapped reports whether the body is put into two blocks: behind the inner one
// is the way to the host, out of the path of a call that has fuel; behind the
// outer one is what every way out of the function must pass.
func (e *emitter) wrapped() bool { return !e.f.inline }

// instruction emits one instruction and reports whether it was the last.
func (e *emitter) instruction(in *instr, d *decoder, body []byte) (last bool) {
	switch in.op {
	case opBlock:
		e.frames = append(e.frames, frame{mark: e.cur, wraps: e.wraps()})
	case opIf:
		e.copy(body, in)
		e.frames = append(e.frames, frame{mark: e.cur, wraps: e.wraps()})
		e.mark(markPlain)
		return false
	case opElse:
		e.cur = e.frames[len(e.frames)-1].mark
		e.copy(body, in)
		e.mark(markPlain)
		return false
	case opLoop:
		e.loop(in, body)
		return false
	case opEnd:
		return e.end()
	case opBr, opBrIf:
		e.out = putU(append(e.out, in.op), uint64(e.label(in.a)))
		return false
	case opBrTable:
		e.out = putU(append(e.out, in.op), uint64(len(d.labels)-1))
		for _, l := range d.labels {
			e.out = putU(e.out, uint64(e.label(l)))
		}
		return false
	case opReturn:
		if e.wrapped() {
			e.out = putU(append(e.out, opBr), uint64(e.label(uint32(len(e.frames)))))
			return false
		}
	case opCall:
		e.call(in.a)
		return false
	case opCallIndirect:
		e.marks[e.cur].cost += costIndirect
		e.save()
		e.copy(body, in)
		e.restore()
		return false
	case opRefFunc:
		e.out = putU(append(e.out, in.op), uint64(e.m.shifted(in.a)))
		return false
	case opMemoryGrow:
		e.marks[e.cur].cost += costGrow
	case opMisc:
		if isBulk(in.sub) {
			e.bulk(in, body)
			return false
		}
	}
	e.copy(body, in)
	return false
}

func (e *emitter) copy(body []byte, in *instr) {
	e.out = append(e.out, body[in.start:in.end]...)
}

// mark begins a new charge here, inside the one in force.
func (e *emitter) mark(kind markKind) {
	e.marks = append(e.marks, mark{at: len(e.out), parent: e.cur, kind: kind})
	e.cur = len(e.marks) - 1
}

// label is a branch target after our blocks have been added: every wrapped loop
// between the branch and its target is one block more. The target itself, if a
// wrapped loop, is its inner one.
func (e *emitter) label(l uint32) uint32 {
	n := uint32(len(e.frames))
	if l == n {
		if e.wrapped() {
			l++ // the inner block is no way out
		}
		return l + e.wraps()
	}
	return l + e.wraps() - e.frames[n-1-l].wraps
}

// wraps is the number of wrapped loops that are open.
func (e *emitter) wraps() uint32 {
	if len(e.frames) == 0 {
		return 0
	}
	return e.frames[len(e.frames)-1].wraps
}

// loop wraps a loop in another one. When fuel runs out at the inner head, the
// branch goes to the outer one, where the host is called, and the inner one is
// entered again. A call inside the inner loop would keep the compiler from
// holding the loop's variables in registers.
func (e *emitter) loop(in *instr, body []byte) {
	f := frame{mark: e.cur, wraps: e.wraps()}
	if in.blockType < 0 || len(e.m.types[in.blockType].params) == 0 {
		f.wrapped = true
		f.wraps++
		e.copy(body, in)
		if e.local {
			e.out = putU(append(e.out, opLocalGet), uint64(e.temp))
		} else {
			e.out = putU(append(e.out, opGlobalGet), uint64(e.m.meter()))
		}
		e.out = append(e.out, opI64Const, 0, opI64LtS)
		e.out = e.yieldIf(e.out)
	}
	e.frames = append(e.frames, f)
	e.copy(body, in)
	if f.wrapped {
		e.mark(markLoop)
	} else {
		e.mark(markCheck)
	}
}

func (e *emitter) end() (last bool) {
	if len(e.frames) == 0 {
		if e.wrapped() {
			e.out = append(e.out, opBr, 1, opEnd)
			e.beginAgain()
			e.out = append(e.out, opEnd)
			e.leave()
		}
		e.out = append(e.out, opEnd)
		return true
	}
	e.out = append(e.out, opEnd)
	f := e.frames[len(e.frames)-1]
	e.frames = e.frames[:len(e.frames)-1]
	if f.wrapped {
		e.out = append(e.out, opEnd)
	}
	e.cur = f.mark
	e.mark(markPlain)
	return false
}

// leave gives the depth back and stores the meter, at the end of the function.
func (e *emitter) leave() {
	switch {
	case e.deep && e.local:
		e.out = appendPlus(e.out, opLocalGet, e.temp, e.f.weight)
	case e.deep:
		e.out = appendPlus(e.out, opGlobalGet, e.m.meter(), e.f.weight)
	case e.local:
		e.out = putU(append(e.out, opLocalGet), uint64(e.temp))
	default:
		return
	}
	e.out = putU(append(e.out, opGlobalSet), uint64(e.m.meter()))
}

func (e *emitter) call(callee uint32) {
	e.emitCall(e.m.shifted(callee))
	if int(callee) < len(e.m.imports) {
		e.marks[e.cur].cost += costImport
		return
	}
	if c := &e.m.info[int(callee)-len(e.m.imports)]; c.inline {
		e.marks[e.cur].cost += c.total
	}
}

func (e *emitter) emitCall(f uint32) {
	e.save()
	e.out = putU(append(e.out, opCall), uint64(f))
	e.restore()
}

// save makes the meter that the function keeps in a local known to others, and
// restore takes it up again.
func (e *emitter) save() {
	if e.local {
		e.out = e.m.appendSave(e.out, e.temp)
	}
}

func (e *emitter) restore() {
	if e.local {
		e.out = e.m.appendRestore(e.out, e.temp)
	}
}

// bulk charges an operation by its length, which is on top of the stack, or
// replaces it by a helper that also cuts it into pieces.
func (e *emitter) bulk(in *instr, body []byte) {
	e.marks[e.cur].cost += costBulk
	switch in.sub {
	case miscMemoryFill:
		e.emitCall(e.m.helper(helperFill))
	case miscMemoryCopy:
		e.emitCall(e.m.helper(helperCopy))
	case miscDataDrop, miscElemDrop:
		e.copy(body, in)
	default:
		e.emitCall(e.m.helper(helperCharge))
		e.copy(body, in)
	}
}

// splice puts the charges into the emitted code, behind the locals.
func (e *emitter) splice(body []byte) []byte {
	for i := len(e.marks) - 1; i > 0; i-- {
		mk := &e.marks[i]
		parent := &e.marks[max(mk.parent, 0)]
		if mk.kind == markPlain && mk.cost < minCharge && parent.folded+mk.cost <= maxFold {
			parent.cost += mk.cost
			parent.folded += mk.cost
			mk.cost = 0
		}
	}
	out := e.locals(e.result[:0], body)
	from, before := 0, len(out)
	var inserts []insert
	for i := range e.marks {
		mk := &e.marks[i]
		if mk.kind == markPlain && mk.cost == 0 || e.f.inline {
			continue
		}
		out = append(out, e.out[from:mk.at]...)
		from = mk.at
		out = e.charge(out, mk)
		if e.m.lines != nil {
			inserts = append(inserts, insert{mk.at, len(out) - before - mk.at})
		}
	}
	e.settle(before, inserts)
	e.result = append(out, e.out[from:]...)
	return e.result
}

// locals writes the local declarations with ours added.
func (e *emitter) locals(out, body []byte) []byte {
	r := &reader{b: body, what: "code"}
	groups := r.u32()
	declared := body[r.at:e.f.code]
	if e.f.inline {
		return append(putU(out, uint64(groups)), declared...)
	}
	out = append(putU(out, uint64(groups)+1), declared...)
	return append(out, 1, 0x7e)
}

// charge writes the charge of a mark.
func (e *emitter) charge(out []byte, mk *mark) []byte {
	m := e.m
	n := mk.cost << FuelShift
	get, index := byte(opGlobalGet), m.meter()
	if e.local && mk.kind != markEntry {
		get, index = opLocalGet, e.temp
	}
	switch mk.kind {
	case markPlain:
		out = appendPlus(out, get, index, -n)
		return putU(append(out, get+1), uint64(index)) // the set beside the get
	case markEntry:
		if e.deep {
			n += e.f.weight
		}
		m.detours[len(m.detours)-1].charged = n
	}
	out = appendPlus(out, get, index, -n)
	out = putU(append(out, opLocalTee), uint64(e.temp))
	if !e.local {
		out = putU(append(out, opGlobalSet), uint64(m.meter()))
		out = putU(append(out, opLocalGet), uint64(e.temp))
	}
	if mk.kind == markEntry && e.deep {
		out = putS(append(out, opI64Const), -1<<63|DepthGuard)
		out = append(out, opI64And, opI64Const, 0, opI64Ne)
		return append(out, opBrIf, 0)
	}
	out = append(out, opI64Const, 0, opI64LtS)
	switch mk.kind {
	case markLoop:
		return append(out, opBrIf, 1)
	case markEntry:
		return append(out, opBrIf, 0)
	}
	return e.yieldIf(out)
}

// beginAgain begins the function again, by way of its detour, when fuel or depth
// is used up. A call that returns into the function would do as well, but
// whatever lives across a call is spilled to memory on every entry, call or no
// call, and that costs more than all the metering.
func (e *emitter) beginAgain() {
	e.save()
	for i := range e.params {
		e.out = putU(append(e.out, opLocalGet), uint64(i))
	}
	e.out = putU(append(e.out, opCall), uint64(e.m.detour(e.index)))
	e.out = append(e.out, opReturn)
}

// yieldIf calls the host when the number on the stack is not zero.
func (e *emitter) yieldIf(out []byte) []byte {
	out = append(out, opIf, blockEmpty)
	if e.local {
		out = e.m.appendSave(out, e.temp)
	}
	out = putU(append(out, opCall), uint64(e.m.yieldFunc()))
	if e.local {
		out = e.m.appendRestore(out, e.temp)
	}
	return append(out, opEnd)
}
