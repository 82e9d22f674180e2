package rewrite

import (
	"bytes"
	"fmt"
	"strings"

	"armature/runtime/sourcemap"
)

// Section numbers.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

var sectionNames = [...]string{
	"custom section", "type section", "import section", "function section", "table section",
	"memory section", "global section", "export section", "start section", "element section",
	"code section", "data section", "data count section", "tag section",
}

// The order in which sections must come; tag and data count were added later
// and sit in between.
var sectionOrder = [...]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secTag: 6, secGlobal: 7,
	secExport: 8, secStart: 9, secElement: 10, secDataCount: 11, secCode: 12, secData: 13,
}

// mostPages is one page less than 32-bit addresses reach.
const mostPages = 65535

type funcType struct{ params, results []byte }

type table struct {
	elem     byte
	min, max uint32
}

type globalVar struct {
	typ  byte
	mut  bool
	init []byte // the expression with its end
}

type export struct {
	name string
	kind byte
	idx  uint32
}

type dataSegment struct {
	raw    []byte // the whole segment
	active bool
	fixed  bool // the offset is a constant
	offset uint32
	bytes  []byte
}

// module is a parsed binary.
type module struct {
	opt      Options
	types    []funcType
	imports  []Func
	impTypes []uint32 // type of each imported function
	funcs    []uint32 // type of each own function
	tables   []table
	memory   bool
	min, max uint32 // in pages; max is the lower of declared and allowed
	declared uint32
	globals  []globalVar
	exports  []export
	start    int64 // function index, -1 for none
	elements []byte
	bodies   [][]byte
	bodyAt   []int // where each begins in its section
	data     []dataSegment
	counted  bool // there is a data count section
	custom   []Custom
	names    map[uint32]string
	lines    *sourcemap.Table // of the sources; nil: unknown

	ownTypes     int // types before those we add
	detours      []detour
	info         []funcInfo
	nested       int64           // see maxNesting
	moved        []sourcemap.Row // the lines of the new code
	taken        map[uint32]bool // functions whose address is taken
	usesData     bool
	unrestorable []string
}

func parse(binary []byte, opt Options) *module {
	m := &module{opt: opt, start: -1, taken: map[uint32]bool{}}
	if len(binary) < 8 || string(binary[:4]) != "\x00asm" {
		fail("this is not a WebAssembly binary")
	}
	switch v := string(binary[4:8]); v {
	case "\x01\x00\x00\x00":
	case "\x0d\x00\x01\x00":
		fail("this is a component (WASI preview 2); a core module is needed: build for wasm32-unknown-unknown or wasm32-wasip1 (wasm32-wasi), in TinyGo -target=wasip1")
	default:
		fail("WebAssembly version %x is not supported", v)
	}
	r := &reader{b: binary, at: 8, what: "module"}
	last := 0
	for r.more() {
		id := r.byte()
		if int(id) >= len(sectionNames) {
			fail("section %d is not known", id)
		}
		s := &reader{b: r.bytes(r.u32()), what: sectionNames[id]}
		if id != secCustom {
			if sectionOrder[id] <= last {
				fail("%s is out of order", sectionNames[id])
			}
			last = sectionOrder[id]
		}
		m.section(id, s)
	}
	if len(m.bodies) != len(m.funcs) {
		fail("%d functions are declared and %d have code", len(m.funcs), len(m.bodies))
	}
	return m
}

func (m *module) section(id byte, r *reader) {
	switch id {
	case secCustom:
		m.parseCustom(r)
		return
	case secStart:
		m.start = int64(m.funcIndex(r.u32()))
		if t := m.typeOf(uint32(m.start)); len(t.params)+len(t.results) > 0 {
			fail("the start function takes or returns values")
		}
	case secElement:
		m.parseElements(r)
	case secDataCount:
		r.u32() // written anew, and checked by the compiler
		m.counted = true
	case secTag:
		fail("exception handling is not supported (tag section)")
	default:
		parseElement := map[byte]func(*reader){
			secType: m.parseType, secImport: m.parseImport, secFunction: m.parseFunction, secTable: m.parseTable,
			secMemory: m.parseMemory, secGlobal: m.parseGlobal, secExport: m.parseExport, secCode: m.parseBody,
			secData: m.parseData,
		}[id]
		for range r.count() {
			parseElement(r)
		}
	}
	r.end()
}

func (m *module) parseType(r *reader) {
	if form := r.byte(); form != 0x60 {
		fail("type form 0x%x is not supported (garbage collection)", form)
	}
	m.types = append(m.types, funcType{valTypes(r), valTypes(r)})
}

// valTypes copies, as parseCustom does: what outlives the parsing must not keep
// the binary alive.
func valTypes(r *reader) []byte {
	ts := bytes.Clone(r.bytes(r.count()))
	for _, t := range ts {
		checkType(t)
	}
	return ts
}

func checkType(t byte) {
	switch t {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f:
	case 0x63, 0x64:
		fail("typed references are not supported")
	case 0x69, 0x68:
		fail("exception handling is not supported (exnref)")
	default:
		fail("value type 0x%x is not supported", t)
	}
}

func (m *module) parseImport(r *reader) {
	mod, name := r.name(), r.name()
	if strings.HasPrefix(mod, m.opt.Prefix) {
		fail("import %q: the module name is reserved", mod+"."+name)
	}
	switch kind := r.byte(); kind {
	case 0:
		t := m.typeIndex(r.u32())
		m.impTypes = append(m.impTypes, t)
		m.imports = append(m.imports, Func{mod, name, m.types[t].params, m.types[t].results})
	case 1, 2, 3, 4:
		fail("import %q is a %s; only functions can be imported", mod+"."+name, [...]string{1: "table", 2: "memory", 3: "global", 4: "tag"}[kind])
	default:
		fail("import %q is of unknown kind %d", mod+"."+name, kind)
	}
}

func (m *module) parseFunction(r *reader) { m.funcs = append(m.funcs, m.typeIndex(r.u32())) }

func (m *module) parseTable(r *reader) {
	t := table{elem: r.byte(), max: m.opt.MaxTable}
	if t.elem != 0x70 && t.elem != 0x6f {
		fail("tables of type 0x%x are not supported (typed references)", t.elem)
	}
	flags := r.byte()
	if flags > 1 {
		fail("table limits 0x%x are not supported", flags)
	}
	t.min = r.u32()
	if flags == 1 {
		t.max = min(t.max, r.u32())
	}
	m.tables = append(m.tables, t)
	total := uint64(0)
	for _, t := range m.tables {
		total += uint64(t.min)
	}
	if total > uint64(m.opt.MaxTable) {
		fail("the tables have %d elements; the limit is %d", total, m.opt.MaxTable)
	}
}

func (m *module) parseMemory(r *reader) {
	if m.memory {
		fail("more than one memory is not supported")
	}
	m.memory, m.max, m.declared = true, m.opt.MaxPages, mostPages
	flags := r.byte()
	switch {
	case flags&2 != 0:
		fail("shared memory is not supported (threads)")
	case flags&4 != 0:
		fail("64-bit memory is not supported")
	case flags > 1:
		fail("memory limits 0x%x are not supported", flags)
	}
	m.min = r.u32()
	if flags == 1 {
		declared := r.u32()
		if declared < m.min {
			fail("the memory's maximum is below its minimum")
		}
		m.max = min(m.max, declared)
		m.declared = min(m.declared, declared)
	}
	if m.min > m.opt.MaxPages {
		fail("the memory starts with %d KiB; the limit is %d KiB", uint64(m.min)*64, uint64(m.opt.MaxPages)*64)
	}
}

func (m *module) parseGlobal(r *reader) {
	g := globalVar{typ: r.byte()}
	checkType(g.typ)
	switch r.byte() {
	case 0:
	case 1:
		g.mut = true
	default:
		fail("global %d is neither constant nor mutable", len(m.globals))
	}
	g.init = m.constExpr(r)
	m.globals = append(m.globals, g)
	if g.mut && (g.typ < 0x7c || g.typ > 0x7f) {
		m.keep("a mutable global that is not a number")
	}
}

func (m *module) parseExport(r *reader) {
	x := export{name: r.name(), kind: r.byte(), idx: r.u32()}
	if strings.HasPrefix(x.name, m.opt.Prefix) {
		fail("export %q: the name is reserved", x.name)
	}
	limit := 0
	switch x.kind {
	case 0:
		limit = len(m.imports) + len(m.funcs)
	case 1:
		limit = len(m.tables)
	case 2:
		if m.memory {
			limit = 1
		}
	case 3:
		limit = len(m.globals)
	default:
		fail("export %q is of unknown kind %d", x.name, x.kind)
	}
	if uint64(x.idx) >= uint64(limit) {
		fail("export %q refers to something that does not exist", x.name)
	}
	m.exports = append(m.exports, x)
}

func (m *module) parseBody(r *reader) {
	body := r.bytes(r.u32())
	m.bodies, m.bodyAt = append(m.bodies, body), append(m.bodyAt, r.at-len(body))
}

func (m *module) parseData(r *reader) {
	from := r.at
	var d dataSegment
	switch flags := r.u32(); flags {
	case 1:
	case 2:
		if r.u32() != 0 {
			fail("more than one memory is not supported")
		}
		fallthrough
	case 0:
		d.active = true
		d.offset, d.fixed = m.constOffset(m.constExpr(r))
		if !d.fixed {
			m.keep("a data segment whose offset is computed")
		}
	default:
		fail("data segment flags %d are not supported", flags)
	}
	if d.active && !m.memory {
		fail("a data segment needs a memory, and there is none")
	}
	d.bytes = r.bytes(r.u32())
	d.raw = r.b[from:r.at]
	m.data = append(m.data, d)
}

func (m *module) parseCustom(r *reader) {
	name := r.name()
	data := r.b[r.at:]
	switch {
	case name == "name":
		m.names = functionNames(data)
		return // read, and too large to keep
	case strings.HasPrefix(name, ".debug"):
		return // larger still
	case name == sourcemap.Section:
		m.lines, _ = sourcemap.Decode(data) // lines are advice, as names are
		return
	}
	m.custom = append(m.custom, Custom{name, bytes.Clone(data)})
}

// keep notes something that memory and globals do not hold.
func (m *module) keep(what string) {
	for _, s := range m.unrestorable {
		if s == what {
			return
		}
	}
	m.unrestorable = append(m.unrestorable, what)
}

func (m *module) typeIndex(i uint32) uint32 {
	if uint64(i) >= uint64(len(m.types)) {
		fail("type %d does not exist", i)
	}
	return i
}

func (m *module) funcIndex(i uint32) uint32 {
	if uint64(i) >= uint64(len(m.imports)+len(m.funcs)) {
		fail("function %d does not exist", i)
	}
	return i
}

func (m *module) globalIndex(i uint32) uint32 {
	if uint64(i) >= uint64(len(m.globals)) {
		fail("global %d does not exist", i)
	}
	return i
}

func (m *module) typeOf(f uint32) funcType {
	if int(f) < len(m.imports) {
		return m.types[m.impTypes[f]]
	}
	return m.types[m.funcs[int(f)-len(m.imports)]]
}

// shifted is a function's index after our import has been added.
func (m *module) shifted(f uint32) uint32 {
	if int(f) < len(m.imports) {
		return f
	}
	return f + 1
}

func globalName(prefix string, i int) string { return fmt.Sprintf("%s%s%d", prefix, global, i) }
