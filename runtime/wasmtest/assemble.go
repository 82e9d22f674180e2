package wasmtest

import (
	"math"
	"strings"
)

// Assemble turns a module's text into its binary.
func Assemble(src string) (binary []byte, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			binary, err = nil, r.error
		default:
			panic(r)
		}
	}()
	a := &assembler{names: map[string]map[string]int{}}
	return a.module(parse(src)), nil
}

// assembler gathers sections as vectors of encoded elements.
type assembler struct {
	types   []string
	names   map[string]map[string]int // by kind: func, global, type, ...
	counts  map[string]int
	imports [][]byte
	funcs   []function
	tables  [][]byte
	memory  [][]byte
	globals [][]byte
	exports [][]byte
	start   []byte
	elems   [][]byte
	data    [][]byte
}

type function struct {
	typ  int
	body node
	sig  signature
}

type signature struct {
	params, results []byte
	names           map[string]int
}

func (a *assembler) module(m node) []byte {
	if m.head() != "module" {
		m.fail("a module is needed")
	}
	fields := m.list[1:]
	a.declare(fields)
	for _, f := range fields {
		a.field(f)
	}
	b := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, elements [][]byte) {
		if len(elements) == 0 {
			return
		}
		body := leb(nil, uint64(len(elements)))
		for _, e := range elements {
			body = append(body, e...)
		}
		b = bytesOf(append(b, id), body)
	}
	bodies := make([][]byte, len(a.funcs))
	for i, f := range a.funcs {
		bodies[i] = bytesOf(nil, a.body(f))
	}
	types, funcs := make([][]byte, len(a.types)), make([][]byte, len(a.funcs))
	for i, t := range a.types {
		types[i] = []byte(t)
	}
	for i, f := range a.funcs {
		funcs[i] = leb(nil, uint64(f.typ))
	}
	section(1, types)
	section(2, a.imports)
	section(3, funcs)
	section(4, a.tables)
	section(5, a.memory)
	section(6, a.globals)
	section(7, a.exports)
	if a.start != nil {
		b = bytesOf(append(b, 8), a.start)
	}
	section(9, a.elems)
	if len(a.data) > 0 {
		b = bytesOf(append(b, 12), leb(nil, uint64(len(a.data))))
	}
	section(10, bodies)
	section(11, a.data)
	return bytesOf(append(b, 0), a.nameSection())
}

// declare numbers everything that has a name. Imports must come first, as in
// the full language.
func (a *assembler) declare(fields []node) {
	a.counts = map[string]int{}
	for _, f := range fields {
		kind, named := f.head(), f
		if kind == "import" && len(f.list) == 4 {
			named = f.list[3]
			kind = named.head()
		}
		if len(named.list) > 1 && strings.HasPrefix(named.list[1].word, "$") {
			if a.names[kind] == nil {
				a.names[kind] = map[string]int{}
			}
			a.names[kind][named.list[1].word] = a.counts[kind]
		}
		a.counts[kind]++
	}
}

// index resolves a name or number of a kind.
func (a *assembler) index(kind string, n node) uint64 {
	if !strings.HasPrefix(n.word, "$") {
		return uint64(n.number())
	}
	i, ok := a.names[kind][n.word]
	if !ok {
		n.fail("no %s is called %s", kind, n.word)
	}
	return uint64(i)
}

func (a *assembler) field(f node) {
	args := f.list[1:]
	kind := f.head()
	number := uint64(0)
	if kind == "func" || kind == "memory" || kind == "global" || kind == "table" {
		number = a.number(kind)
	}
	if len(args) > 0 && kind != "start" && strings.HasPrefix(args[0].word, "$") && !args[0].quoted {
		args = args[1:]
	}
	for len(args) > 0 && args[0].head() == "export" && len(args[0].list) == 2 && kind != "export" {
		a.export(args[0].list[1].word, kind, number)
		args = args[1:]
	}
	switch kind {
	case "type":
		sig, _ := a.signature(args[0].list[1:])
		a.types = append(a.types, encodeType(sig))
	case "import":
		desc := args[2].list[1:]
		if args[2].head() != "func" {
			f.fail("only functions can be imported")
		}
		if len(desc) > 0 && strings.HasPrefix(desc[0].word, "$") {
			desc = desc[1:]
		}
		typ, _, _ := a.typeUse(desc)
		im := name(name(nil, args[0].word), args[1].word)
		a.imports = append(a.imports, leb(append(im, 0), uint64(typ)))
	case "func":
		typ, sig, rest := a.typeUse(args)
		a.funcs = append(a.funcs, function{typ, node{line: f.line, list: rest}, sig})
	case "memory":
		a.memory = append(a.memory, limits(args))
	case "table":
		a.tables = append(a.tables, append([]byte{valueType(args[len(args)-1])}, limits(args[:len(args)-1])...))
	case "global":
		a.globals = append(a.globals, a.global(args))
	case "export":
		a.export(args[0].word, args[1].head(), a.index(args[1].head(), args[1].list[1]))
	case "start":
		a.start = leb(nil, a.index("func", args[0]))
	case "elem":
		e := append([]byte{0}, a.expression(args[0])...)
		e = leb(e, uint64(len(args)-1))
		for _, fn := range args[1:] {
			e = leb(e, a.index("func", fn))
		}
		a.elems = append(a.elems, e)
	case "data":
		a.data = append(a.data, a.segment(args))
	default:
		f.fail("%q is not a field of a module", kind)
	}
}

// number is the index of the definition being encoded.
func (a *assembler) number(kind string) uint64 {
	switch kind {
	case "func":
		return uint64(len(a.imports) + len(a.funcs))
	case "global":
		return uint64(len(a.globals))
	case "table":
		return uint64(len(a.tables))
	}
	return 0
}

func (a *assembler) export(as, kind string, index uint64) {
	code := map[string]byte{"func": 0, "table": 1, "memory": 2, "global": 3}[kind]
	a.exports = append(a.exports, leb(append(name(nil, as), code), index))
}

func (a *assembler) global(args []node) []byte {
	b := []byte{0, 0}
	if t := args[0]; t.head() == "mut" {
		b[0], b[1] = valueType(t.list[1]), 1
	} else {
		b[0] = valueType(t)
	}
	return append(b, a.expression(args[1])...)
}

func (a *assembler) segment(args []node) []byte {
	b := []byte{1}
	if args[0].isList() {
		b = append([]byte{0}, a.expression(args[0])...)
		args = args[1:]
	}
	var contents strings.Builder
	for _, s := range args {
		contents.WriteString(s.word)
	}
	return bytesOf(b, []byte(contents.String()))
}

// expression encodes a constant expression, one folded instruction.
func (a *assembler) expression(n node) []byte {
	if n.head() == "offset" {
		n = n.list[1]
	}
	c := &coder{a: a}
	c.folded(n)
	return append(c.out, 0x0b)
}

// typeUse reads a signature, given or by the name of a type, and what follows.
func (a *assembler) typeUse(args []node) (typ int, sig signature, rest []node) {
	if len(args) > 0 && args[0].head() == "type" {
		typ = int(a.index("type", args[0].list[1]))
		sig, rest = a.signature(args[1:])
		if sig.params == nil {
			t := a.types[typ]
			sig.params = []byte(t[2 : 2+t[1]])
		}
		return typ, sig, rest
	}
	sig, rest = a.signature(args)
	want := encodeType(sig)
	for i, t := range a.types {
		if t == want {
			return i, sig, rest
		}
	}
	a.types = append(a.types, want)
	return len(a.types) - 1, sig, rest
}

func (a *assembler) signature(args []node) (signature, []node) {
	sig := signature{names: map[string]int{}}
	for ; len(args) > 0 && (args[0].head() == "param" || args[0].head() == "result"); args = args[1:] {
		for _, t := range args[0].list[1:] {
			switch {
			case strings.HasPrefix(t.word, "$"):
				sig.names[t.word] = len(sig.params)
			case args[0].head() == "param":
				sig.params = append(sig.params, valueType(t))
			default:
				sig.results = append(sig.results, valueType(t))
			}
		}
	}
	return sig, args
}

func encodeType(s signature) string {
	return string(bytesOf(bytesOf([]byte{0x60}, s.params), s.results))
}

func limits(args []node) []byte {
	if len(args) == 1 {
		return leb([]byte{0}, uint64(args[0].number()))
	}
	return leb(leb([]byte{1}, uint64(args[0].number())), uint64(args[1].number()))
}

func valueType(n node) byte {
	t, ok := map[string]byte{
		"i32": 0x7f, "i64": 0x7e, "f32": 0x7d, "f64": 0x7c, "v128": 0x7b, "funcref": 0x70, "externref": 0x6f,
	}[n.word]
	if !ok {
		n.fail("%q is not a value type", n.word)
	}
	return t
}

// nameSection names the functions, for stack traces.
func (a *assembler) nameSection() []byte {
	byIndex := map[int]string{}
	last := -1
	for n, i := range a.names["func"] {
		byIndex[i] = strings.TrimPrefix(n, "$")
		last = max(last, i)
	}
	entries := leb(nil, uint64(len(byIndex)))
	for i := range last + 1 {
		if n, ok := byIndex[i]; ok {
			entries = name(leb(entries, uint64(i)), n)
		}
	}
	return bytesOf(append(name(nil, "name"), 1), entries)
}

func leb(b []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

func signedLEB(b []byte, v int64) []byte {
	for v < -64 || v > 63 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v)&0x7f)
}

func name(b []byte, s string) []byte { return append(leb(b, uint64(len(s))), s...) }

func bytesOf(b, s []byte) []byte { return append(leb(b, uint64(len(s))), s...) }

// narrow makes a 32-bit constant of a number written signed or unsigned.
func narrow(n node) int64 {
	v := n.number()
	if v > math.MaxUint32 || v < math.MinInt32 {
		n.fail("%s does not fit 32 bits", n.word)
	}
	return int64(int32(uint32(v)))
}
