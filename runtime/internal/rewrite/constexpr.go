package rewrite

// constExpr reads a constant expression and returns it with function indices
// shifted, its end included.
func (m *module) constExpr(r *reader) []byte {
	var out []byte
	for {
		from := r.at
		op := r.byte()
		switch op {
		case opEnd:
			return append(out, opEnd)
		case opI32Const:
			r.signed(32)
		case opI64Const:
			r.signed(64)
		case opF32Const:
			r.bytes(4)
		case opF64Const:
			r.bytes(8)
		case opGlobalGet:
			m.globalIndex(r.u32())
		case opRefNull:
			checkType(r.byte())
		case opRefFunc:
			f := m.funcIndex(r.u32())
			m.taken[f] = true
			out = putU(append(out, opRefFunc), uint64(m.shifted(f)))
			continue
		case opVector:
			if r.u32() != vecConst {
				fail("a vector operation in a constant expression is not supported")
			}
			r.bytes(16)
		default:
			fail("instruction 0x%x in a constant expression is not supported", op)
		}
		out = append(out, r.b[from:r.at]...)
	}
}

// constOffset is the value of an expression that is one i32.const.
func (m *module) constOffset(expr []byte) (uint32, bool) {
	if expr[0] != opI32Const {
		return 0, false
	}
	r := &reader{b: expr, at: 1, what: "offset"}
	v := r.signed(32)
	return uint32(v), r.byte() == opEnd && !r.more()
}

// parseElements copies the element section with function indices shifted.
func (m *module) parseElements(r *reader) {
	n := r.count()
	out := putU(nil, uint64(n))
	for range n {
		flags := r.u32()
		if flags > 7 {
			fail("element segment flags %d are not supported", flags)
		}
		out = putU(out, uint64(flags))
		if flags&1 == 0 {
			if flags&2 != 0 {
				out = putU(out, uint64(r.u32()))
			}
			out = append(out, m.constExpr(r)...)
		}
		if flags&3 != 0 {
			out = append(out, r.byte()) // element kind or reference type
		}
		items := r.count()
		out = putU(out, uint64(items))
		for range items {
			if flags&4 != 0 {
				out = append(out, m.constExpr(r)...)
				continue
			}
			f := m.funcIndex(r.u32())
			m.taken[f] = true
			out = putU(out, uint64(m.shifted(f)))
		}
	}
	m.elements = out
}
