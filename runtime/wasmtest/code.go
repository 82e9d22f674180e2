package wasmtest

import (
	"strings"
)

// coder encodes the instructions of one function.
type coder struct {
	a      *assembler
	out    []byte
	locals map[string]int
	labels []string // open blocks, outermost first
}

func (a *assembler) body(f function) []byte {
	c := &coder{a: a, locals: f.sig.names}
	if c.locals == nil {
		c.locals = map[string]int{}
	}
	code := f.body.list
	next := len(f.sig.params)
	var types []byte
	for ; len(code) > 0 && code[0].head() == "local"; code = code[1:] {
		for _, t := range code[0].list[1:] {
			if strings.HasPrefix(t.word, "$") {
				c.locals[t.word] = next
				continue
			}
			types = append(types, valueType(t))
			next++
		}
	}
	b := leb(nil, uint64(len(types)))
	for _, t := range types {
		b = append(b, 1, t)
	}
	c.sequence(code)
	return append(append(b, c.out...), 0x0b)
}

func (c *coder) sequence(code []node) {
	for len(code) > 0 {
		if code[0].isList() {
			c.folded(code[0])
			code = code[1:]
			continue
		}
		code = c.plain(code[0], code[1:])
	}
}

// folded encodes (instruction immediates operands): the operands come first.
func (c *coder) folded(n node) {
	op, rest := n.list[0], n.list[1:]
	switch op.word {
	case "block", "loop":
		rest = c.open(op, rest)
		c.sequence(rest)
		c.close()
		return
	case "if":
		c.foldedIf(op, rest)
		return
	}
	operands := len(rest)
	for operands > 0 && rest[operands-1].isList() && rest[operands-1].head() != "type" {
		operands--
	}
	for _, o := range rest[operands:] {
		c.folded(o)
	}
	if left := c.plain(op, rest[:operands]); len(left) > 0 {
		left[0].fail("%q does not belong to %s", left[0].word, op.word)
	}
}

func (c *coder) foldedIf(op node, rest []node) {
	at := 0
	for at < len(rest) && rest[at].head() != "then" {
		if rest[at].isList() && rest[at].head() != "result" && rest[at].head() != "param" {
			c.folded(rest[at])
		}
		at++
	}
	if at == len(rest) {
		op.fail("an if needs a then")
	}
	header := rest[:0:0]
	for _, h := range rest[:at] {
		if !h.isList() || h.head() == "result" || h.head() == "param" {
			header = append(header, h)
		}
	}
	c.open(op, header)
	c.sequence(rest[at].list[1:])
	if at+1 < len(rest) {
		c.out = append(c.out, 0x05)
		c.sequence(rest[at+1].list[1:])
	}
	c.close()
}

// open begins a block: its label and type.
func (c *coder) open(op node, rest []node) []node {
	label := ""
	if len(rest) > 0 && strings.HasPrefix(rest[0].word, "$") {
		label, rest = rest[0].word, rest[1:]
	}
	c.labels = append(c.labels, label)
	c.out = append(c.out, map[string]byte{"block": 0x02, "loop": 0x03, "if": 0x04}[op.word])
	sig, rest := c.a.signature(rest)
	switch {
	case len(sig.params) == 0 && len(sig.results) == 0:
		c.out = append(c.out, 0x40)
	case len(sig.params) == 0 && len(sig.results) == 1:
		c.out = append(c.out, sig.results[0])
	default:
		c.out = signedLEB(c.out, int64(c.typeIndex(op, sig)))
	}
	return rest
}

// typeIndex finds a block's type; the module must define it, since the type
// section is complete by the time code is encoded.
func (c *coder) typeIndex(op node, sig signature) int {
	want := encodeType(sig)
	for i, t := range c.a.types {
		if t == want {
			return i
		}
	}
	op.fail("the module must define the block's type")
	return 0
}

func (c *coder) close() {
	c.out = append(c.out, 0x0b)
	c.labels = c.labels[:len(c.labels)-1]
}

func (c *coder) label(n node) uint64 {
	if !strings.HasPrefix(n.word, "$") {
		return uint64(n.number())
	}
	for i := len(c.labels) - 1; i >= 0; i-- {
		if c.labels[i] == n.word {
			return uint64(len(c.labels) - 1 - i)
		}
	}
	n.fail("no block is called %s", n.word)
	return 0
}

// plain encodes one instruction with its immediates and returns what follows.
func (c *coder) plain(op node, rest []node) []node {
	take := func() node {
		if len(rest) == 0 {
			op.fail("%s lacks something", op.word)
		}
		n := rest[0]
		rest = rest[1:]
		return n
	}
	switch op.word {
	case "block", "loop", "if":
		return c.open(op, rest)
	case "else":
		c.out = append(c.out, 0x05)
		return rest
	case "end":
		c.close()
		return rest
	}
	in, ok := instructions[op.word]
	if !ok {
		op.fail("instruction %s is not known", op.word)
	}
	c.out = append(c.out, in.code...)
	switch in.kind {
	case immNone:
	case immLocal:
		c.out = leb(c.out, c.local(take()))
	case immGlobal:
		c.out = leb(c.out, c.a.index("global", take()))
	case immFunc:
		c.out = leb(c.out, c.a.index("func", take()))
	case immLabel:
		c.out = leb(c.out, c.label(take()))
	case immLabels:
		var ls []uint64
		for len(rest) > 0 && !rest[0].isList() && (strings.HasPrefix(rest[0].word, "$") || strings.Trim(rest[0].word, "0123456789") == "") {
			ls = append(ls, c.label(take()))
		}
		c.out = leb(c.out, uint64(len(ls)-1))
		for _, l := range ls {
			c.out = leb(c.out, l)
		}
	case immI32:
		c.out = signedLEB(c.out, narrow(take()))
	case immI64:
		c.out = signedLEB(c.out, take().number())
	case immMemory:
		rest = c.memory(in, rest)
	case immType:
		t := take()
		if t.head() != "type" {
			t.fail("call_indirect needs a type")
		}
		c.out = append(leb(c.out, c.a.index("type", t.list[1])), 0)
	case immZero:
		c.out = append(c.out, 0)
	case immZeros:
		c.out = append(c.out, 0, 0)
	case immData:
		c.out = append(leb(c.out, c.a.index("data", take())), 0)
	case immIndex:
		c.out = leb(c.out, uint64(take().number()))
	case immHeap:
		c.out = append(c.out, map[string]byte{"func": 0x70, "extern": 0x6f}[take().word])
	}
	return rest
}

func (c *coder) local(n node) uint64 {
	if !strings.HasPrefix(n.word, "$") {
		return uint64(n.number())
	}
	i, ok := c.locals[n.word]
	if !ok {
		n.fail("no local is called %s", n.word)
	}
	return uint64(i)
}

// memory encodes offset= and the natural alignment.
func (c *coder) memory(in instruction, rest []node) []node {
	offset := uint64(0)
	if len(rest) > 0 && strings.HasPrefix(rest[0].word, "offset=") {
		offset = uint64(node{line: rest[0].line, word: strings.TrimPrefix(rest[0].word, "offset=")}.number())
		rest = rest[1:]
	}
	c.out = leb(append(c.out, in.align), offset)
	return rest
}
