package rewrite

// Opcodes that the rewriter treats specially or writes.
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21 // each set follows its get
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32GtU       = 0x4b
	opI32LeU       = 0x4d
	opI64Ne        = 0x52
	opI64LtS       = 0x53
	opI64GtU       = 0x56
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32Or        = 0x72
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64And       = 0x83
	opI64Shl       = 0x86
	opI64ShrU      = 0x88
	opI64ExtendU   = 0xad
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd

	blockEmpty = 0x40
	vecConst   = 12
)

// Instructions behind opMisc.
const (
	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableSize  = 16
	miscTableFill  = 17
)

// What we refuse, and how we call it.
var refused = map[byte]string{
	0x06: "exception handling", 0x07: "exception handling", 0x08: "exception handling", 0x09: "exception handling",
	0x0a: "exception handling", 0x18: "exception handling", 0x19: "exception handling", 0x1f: "exception handling",
	0x12: "tail calls", 0x13: "tail calls",
	0x14: "typed function references", 0x15: "typed function references",
	0xd3: "typed references", 0xd4: "typed references", 0xd5: "typed references", 0xd6: "typed references",
	0xfb: "garbage collection", 0xfe: "threads",
}

// instr is one decoded instruction. a is its first index or label, or its block
// type; sub the number behind a prefix opcode.
type instr struct {
	op         byte
	sub        uint32
	a          uint32
	blockType  int64
	start, end int // its bytes in the body
}

// decoder reads the instructions of one function body.
type decoder struct {
	reader
	labels []uint32   // of the latest br_table, the default last
	open   []openLoop // for the first pass
}

// openLoop is a loop whose end has not been read.
type openLoop struct {
	depth int
	calls bool
}

// called notes a call in the open loops.
func (d *decoder) called() {
	for i := len(d.open) - 1; i >= 0 && !d.open[i].calls; i-- {
		d.open[i].calls = true
	}
}

func (d *decoder) next(in *instr) {
	in.start = d.at
	in.op = d.byte()
	switch op := in.op; {
	case op == opLocalGet || op == opLocalSet || op == opLocalTee || op == opGlobalGet || op == opGlobalSet,
		op == opCall, op == opBr, op == opBrIf, op == opRefFunc, op == opTableGet, op == opTableSet:
		in.a = d.u32()
	case op >= 0x28 && op <= 0x3e: // loads and stores
		d.memarg()
	case op == opI32Const:
		d.signed(32)
	case op == opI64Const:
		d.signed(64)
	case op >= 0x45 && op <= 0xc4, op <= 0x01, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == opSelect, op == opRefIsNull:
	case op == opBlock || op == opLoop || op == opIf:
		in.blockType = d.signed(33)
	case op == opBrTable:
		d.labels = d.labels[:0]
		for range uint64(d.count()) + 1 {
			d.labels = append(d.labels, d.u32())
		}
	case op == opCallIndirect:
		in.a = d.u32()
		d.u32()
	case op == opSelectTyped:
		for range d.count() {
			checkType(d.byte())
		}
	case op == opMemorySize || op == opMemoryGrow:
		d.zero()
	case op == opF32Const:
		d.bytes(4)
	case op == opF64Const:
		d.bytes(8)
	case op == opRefNull:
		checkType(d.byte())
	case op == opMisc:
		in.sub = d.u32()
		d.misc(in)
	case op == opVector:
		in.sub = d.u32()
		d.vector(in.sub)
	case refused[op] != "":
		fail("%s are not supported (instruction 0x%x)", refused[op], op)
	default:
		fail("instruction 0x%x is not known", op)
	}
	in.end = d.at
}

func (d *decoder) memarg() {
	if align := d.u32(); align&0x40 != 0 {
		fail("more than one memory is not supported")
	}
	d.u32()
}

// zero reads a memory index.
func (d *decoder) zero() {
	if d.u32() != 0 {
		fail("more than one memory is not supported")
	}
}

func (d *decoder) misc(in *instr) {
	switch in.sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
	case miscMemoryInit:
		in.a = d.u32()
		d.zero()
	case miscMemoryCopy:
		d.zero()
		d.zero()
	case miscMemoryFill:
		d.zero()
	case miscDataDrop, miscElemDrop, miscTableGrow, miscTableSize, miscTableFill:
		in.a = d.u32()
	case miscTableInit, miscTableCopy:
		in.a = d.u32()
		d.u32()
	default:
		fail("instruction 0xfc %d is not known", in.sub)
	}
}

func (d *decoder) vector(sub uint32) {
	switch {
	case sub <= 11 || sub == 92 || sub == 93: // loads and stores
		d.memarg()
	case sub == vecConst || sub == 13:
		d.bytes(16)
	case sub >= 21 && sub <= 34: // lanes
		d.byte()
	case sub >= 84 && sub <= 91: // loads and stores of a lane
		d.memarg()
		d.byte()
	case sub > 0xff:
		fail("relaxed vector instructions are not supported (0xfd %d)", sub)
	}
}
