package rewrite

// What an instruction costs beside its one unit, and what decides how a
// function is charged.
const (
	costImport   = 50  // crossing to the host and back
	costIndirect = 10  // as much as the largest uncharged function behind it may do
	costGrow     = 500 // memory.grow: a crossing and a system call
	costBulk     = 10  // the helper around a bulk operation

	maxLocals = 50_000

	// What compiling one function takes, above all of memory, grows with its code, with
	// its locals times its blocks, and with the targets of its branch tables: 2 MB of
	// code, 4 million of the one or 200,000 of the other are 500 MiB to 1 GiB where all
	// of it is used. Of what compilers make, the largest function has 80 KB, 110,000 and
	// 3,100; but what they make without optimization has thousands of locals that are
	// hardly used (Zig: 4,791 in 420 branches and more), which the process that
	// compiles takes, or ends at its limits.
	maxBody    = 1 << 20
	maxPhis    = 16_000_000
	maxTargets = 32_768

	// Compiling takes time in proportion to the square of how deep a function's
	// blocks are nested: 100,000, which are 300 KB, take three minutes. So a module
	// may have so much of it, the sum of its functions' blocks times their greatest
	// depth, loops for more: about 20 s. A compiler of 14 MB, written in Go, has a
	// seventh of that, what plugins are made of a hundredth.
	maxNesting = 600_000_000
	loopWeight = 30

	// A function without loops that does at most this much, callees included,
	// is charged to its callers instead of at its entry.
	maxInline = 200
	// The same for functions that can be called through a table, where the
	// caller cannot know whom it calls.
	maxInlineTaken = costIndirect
	inlineRounds   = 3
)

// funcInfo is what the first pass learns about a function.
type funcInfo struct {
	locals  uint32 // parameters included
	code    int    // where the instructions begin
	weight  int64  // of one activation, in units of call depth
	cost    int64  // of all its instructions, callees excluded
	loops   bool
	tight   bool // has a loop without calls
	unknown bool // calls through a table
	bulk    bool
	calls   int      // how many instructions call something
	callees []uint32 // own functions called directly, by own index
	inline  bool     // charged to its callers
	total   int64    // cost with callees, if inline
}

// scan checks every function body and decides how each function is charged.
func (m *module) scan() {
	m.info = make([]funcInfo, len(m.bodies))
	d := &decoder{}
	for i, body := range m.bodies {
		d.reader = reader{b: body, what: "code"}
		m.scanBody(d, i)
	}
	for range inlineRounds {
		for i := range m.info {
			m.decideInline(i)
		}
	}
}

func (m *module) decideInline(i int) {
	f := &m.info[i]
	if f.inline || f.loops || f.unknown || f.bulk {
		return
	}
	total := f.cost
	for _, callee := range f.callees {
		c := &m.info[callee]
		if !c.inline {
			return
		}
		total += c.total
	}
	limit := int64(maxInline)
	if m.taken[uint32(i+len(m.imports))] {
		limit = maxInlineTaken
	}
	if total <= limit {
		f.inline, f.total = true, total
	}
}

// deep reports whether the function's activations count as call depth: it can
// be part of a chain of calls that the functions' number does not bound
// tightly.
func (m *module) deep(f *funcInfo) bool {
	if f.unknown {
		return true
	}
	for _, callee := range f.callees {
		if !m.info[callee].inline {
			return true
		}
	}
	return false
}

func (m *module) scanBody(d *decoder, i int) {
	f := &m.info[i]
	if len(d.b) > maxBody {
		fail("function %d has %d bytes of code; the limit is %d", i, len(d.b), maxBody)
	}
	f.locals = m.scanLocals(d, i)
	f.code = d.at
	f.weight = 1 + int64(f.locals)/16

	d.open = d.open[:0]
	s := bodyScan{m: m, d: d, f: f, depth: 1}
	var in instr
	for s.depth > 0 {
		d.next(&in)
		if !free(in.op) {
			f.cost++
		}
		s.control(&in)
		s.refer(&in)
	}
	d.end()
}

// bodyScan is the scan of one function's code.
type bodyScan struct {
	m        *module
	d        *decoder
	f        *funcInfo
	depth    int // open blocks, the function itself included
	n, loops nesting
	ways     int64 // by which control can come or go on, blocks among them
	targets  int   // of branch tables
}

// control follows the blocks.
func (s *bodyScan) control(in *instr) {
	m, d, f := s.m, s.d, s.f
	switch in.op {
	case opBlock, opIf:
		m.blockType(in.blockType)
		s.depth++
		m.nest(&s.n, 1, s.depth)
		s.way()
	case opLoop:
		m.blockType(in.blockType)
		s.depth++
		f.loops = true
		d.open = append(d.open, openLoop{depth: s.depth})
		m.nest(&s.n, 1, s.depth)
		m.nest(&s.loops, loopWeight, len(d.open))
		s.way()
	case opElse:
		if s.depth == 1 {
			fail("code has an else without an if")
		}
		s.way()
	case opEnd:
		if n := len(d.open); n > 0 && d.open[n-1].depth == s.depth {
			f.tight = f.tight || !d.open[n-1].calls
			d.open = d.open[:n-1]
		}
		s.depth--
	case opBr, opBrIf:
		checkLabel(in.a, s.depth)
		s.way()
	case opBrTable:
		if s.targets += len(d.labels); s.targets > maxTargets {
			fail("a function has branch tables with more than %d targets", maxTargets)
		}
		for _, l := range d.labels {
			checkLabel(l, s.depth)
		}
	}
}

// way notes one more way by which control can come or go on: at each, the compiler
// looks at every local.
func (s *bodyScan) way() {
	if s.ways++; s.ways*int64(s.f.locals) > maxPhis {
		fail("a function has too many branches for its %d locals: build it with optimization", s.f.locals)
	}
}

// refer notes what an instruction calls, changes or names.
func (s *bodyScan) refer(in *instr) {
	m, d, f := s.m, s.d, s.f
	switch in.op {
	case opCall:
		d.called()
		f.calls++
		m.scanCall(f, m.funcIndex(in.a))
	case opCallIndirect:
		m.typeIndex(in.a)
		d.called()
		f.calls++
		f.cost += costIndirect
		f.unknown = true
	case opLocalGet, opLocalSet, opLocalTee:
		if in.a >= f.locals {
			fail("local %d does not exist", in.a)
		}
	case opGlobalGet, opGlobalSet:
		m.globalIndex(in.a)
	case opRefFunc:
		m.taken[m.funcIndex(in.a)] = true
	case opTableSet:
		m.keep("tables are changed (table.set)")
	case opMemoryGrow:
		f.cost += costGrow
	case opMisc:
		m.scanMisc(in)
		if isBulk(in.sub) {
			d.called()
			f.calls++
			f.bulk = true
			f.cost += costBulk
		}
	}
}

// nesting is how many blocks of a function there are so far, and how deep.
type nesting struct{ blocks, deepest int64 }

// nest notes one more block, and refuses a module with more nesting than compiling
// can bear. The square of what a function has is counted as it grows.
func (m *module) nest(n *nesting, weight int64, depth int) {
	before := n.blocks * n.deepest
	n.blocks++
	n.deepest = max(n.deepest, int64(depth))
	if m.nested += weight * (n.blocks*n.deepest - before); m.nested > maxNesting {
		fail("the code is nested too deep to be compiled")
	}
}

// free reports whether an instruction only structures the code: no machine
// instruction comes of it.
func free(op byte) bool {
	return op == opBlock || op == opLoop || op == opEnd || op == opNop
}

func checkLabel(l uint32, depth int) {
	if uint64(l) >= uint64(depth) {
		fail("label %d does not exist", l)
	}
}

func (m *module) blockType(t int64) {
	if t >= 0 {
		m.typeIndex(uint32(t))
		return
	}
	if b := byte(t & 0x7f); b != blockEmpty {
		checkType(b)
	}
}

func (m *module) scanLocals(d *decoder, i int) uint32 {
	total := uint64(len(m.types[m.funcs[i]].params))
	for range d.count() {
		total += uint64(d.u32())
		checkType(d.byte())
		if total > maxLocals {
			fail("a function has more than %d locals", maxLocals)
		}
	}
	return uint32(total)
}

func (m *module) scanCall(f *funcInfo, callee uint32) {
	if int(callee) < len(m.imports) {
		f.cost += costImport
		return
	}
	f.callees = append(f.callees, callee-uint32(len(m.imports)))
}

func (m *module) scanMisc(in *instr) {
	switch in.sub {
	case miscMemoryInit:
		m.usesData = true
	case miscDataDrop:
		m.usesData = true
		m.keep("data segments are dropped (data.drop)")
	case miscTableInit:
		m.keep("tables are changed (table.init)")
	case miscElemDrop:
		m.keep("element segments are dropped (elem.drop)")
	case miscTableCopy:
		m.keep("tables are changed (table.copy)")
	case miscTableGrow:
		m.keep("tables are changed (table.grow)")
	case miscTableFill:
		m.keep("tables are changed (table.fill)")
	}
}

// isBulk reports whether an instruction behind opMisc works on a range.
func isBulk(sub uint32) bool { return sub >= miscMemoryInit && sub != miscTableSize }
