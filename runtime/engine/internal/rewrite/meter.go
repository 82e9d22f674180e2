package rewrite

// Less than minCharge is not worth a charge of its own: it is charged where the
// surrounding code is, whether or not it runs, up to maxFold in one place. The
// bound matters for code that jumps to one of many small pieces, as Go's does.
const (
	minCharge = 32
	maxFold   = 32
)

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
	deep   bool
	temp   uint32 // our i64 locals: fuel, and depth
	out    []byte
	marks  []mark
	cur    int
	frames []frame
	result []byte
}

// body returns the function's new body.
func (e *emitter) body(i int, d *decoder) []byte {
	m := e.m
	e.f = &m.info[i]
	e.deep = !e.f.inline && m.deep(e.f)
	e.temp = e.f.locals
	e.out, e.marks, e.frames, e.cur = e.out[:0], e.marks[:0], e.frames[:0], 0

	body := m.bodies[i]
	d.reader = reader{b: body, at: e.f.code, what: "code"}
	results := m.types[m.funcs[i]].results
	if e.deep {
		e.out = putS(append(e.out, opBlock), m.blockOf(results))
	}
	e.marks = append(e.marks, mark{parent: -1, kind: markEntry})

	var in instr
	for done := false; !done; {
		d.next(&in)
		if !free(in.op) {
			e.marks[e.cur].cost++
		}
		done = e.instruction(&in, d, body)
	}
	return e.splice(body)
}

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
		if e.deep {
			e.out = putU(append(e.out, opBr), uint64(e.label(uint32(len(e.frames)))))
			return false
		}
	case opCall:
		e.call(in.a)
		return false
	case opCallIndirect:
		e.marks[e.cur].cost += costIndirect
	case opRefFunc:
		e.out = putU(append(e.out, in.op), uint64(e.m.shifted(in.a)))
		return false
	case opMemoryGrow:
		e.marks[e.cur].cost += costGrow
	case opMisc:
		if in.sub >= miscMemoryInit && in.sub != miscTableSize {
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
		e.out = e.m.appendCheck(e.out)
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
	e.out = append(e.out, opEnd)
	if len(e.frames) == 0 {
		if e.deep {
			e.out = e.m.appendAdd(e.out, e.m.depthGlobal(), e.f.weight)
			e.out = append(e.out, opEnd)
		}
		return true
	}
	f := e.frames[len(e.frames)-1]
	e.frames = e.frames[:len(e.frames)-1]
	if f.wrapped {
		e.out = append(e.out, opEnd)
	}
	e.cur = f.mark
	e.mark(markPlain)
	return false
}

func (e *emitter) call(callee uint32) {
	e.out = putU(append(e.out, opCall), uint64(e.m.shifted(callee)))
	if int(callee) < len(e.m.imports) {
		e.marks[e.cur].cost += costImport
		return
	}
	if c := &e.m.info[int(callee)-len(e.m.imports)]; c.inline {
		e.marks[e.cur].cost += c.total
	}
}

// bulk charges an operation by its length, which is on top of the stack, or
// replaces it by a helper that also cuts it into pieces.
func (e *emitter) bulk(in *instr, body []byte) {
	e.marks[e.cur].cost += costBulk
	switch in.sub {
	case miscMemoryFill:
		e.out = putU(append(e.out, opCall), uint64(e.m.helper(helperFill)))
	case miscMemoryCopy:
		e.out = putU(append(e.out, opCall), uint64(e.m.helper(helperCopy)))
	case miscDataDrop, miscElemDrop:
		e.copy(body, in)
	default:
		e.out = putU(append(e.out, opCall), uint64(e.m.helper(helperCharge)))
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
	from := 0
	for i := range e.marks {
		mk := &e.marks[i]
		if mk.kind == markPlain && mk.cost == 0 || e.f.inline {
			continue
		}
		out = append(out, e.out[from:mk.at]...)
		from = mk.at
		out = e.charge(out, mk)
	}
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
	return append(out, 2, 0x7e)
}

func (e *emitter) charge(out []byte, mk *mark) []byte {
	m := e.m
	if mk.kind == markPlain {
		return m.appendAdd(out, m.fuelGlobal(), -mk.cost)
	}
	out = m.appendSub(out, m.fuelGlobal(), mk.cost, e.temp)
	switch mk.kind {
	case markEntry:
		if e.deep {
			out = m.appendSub(out, m.depthGlobal(), e.f.weight, e.temp+1)
			out = putU(append(out, opLocalGet), uint64(e.temp))
			out = putU(append(out, opLocalGet), uint64(e.temp+1))
			out = append(out, opI64Or)
		} else {
			out = putU(append(out, opLocalGet), uint64(e.temp))
		}
		return m.appendYieldIfNegative(out)
	case markLoop:
		out = putU(append(out, opLocalGet), uint64(e.temp))
		return append(out, opI64Const, 0, opI64LtS, opBrIf, 1)
	default:
		out = putU(append(out, opLocalGet), uint64(e.temp))
		return m.appendYieldIfNegative(out)
	}
}
