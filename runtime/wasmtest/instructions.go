package wasmtest

import "strings"

type immediate byte

const (
	immNone immediate = iota
	immLocal
	immGlobal
	immFunc
	immLabel
	immLabels
	immI32
	immI64
	immMemory
	immType
	immZero  // a memory index
	immZeros // two of them
	immData  // a data segment, then a memory index
	immIndex // a table or segment
	immHeap  // func or extern
)

type instruction struct {
	code  []byte
	kind  immediate
	align byte
}

// numeric lists the instructions 0x45 to 0xc4, which have no immediates.
const numeric = `
i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u
i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u
f32.eq f32.ne f32.lt f32.gt f32.le f32.ge f64.eq f64.ne f64.lt f64.gt f64.le f64.ge
i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u
i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u i32.rotl i32.rotr
i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul i64.div_s i64.div_u i64.rem_s i64.rem_u
i64.and i64.or i64.xor i64.shl i64.shr_s i64.shr_u i64.rotl i64.rotr
f32.abs f32.neg f32.ceil f32.floor f32.trunc f32.nearest f32.sqrt
f32.add f32.sub f32.mul f32.div f32.min f32.max f32.copysign
f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest f64.sqrt
f64.add f64.sub f64.mul f64.div f64.min f64.max f64.copysign
i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u
i64.extend_i32_s i64.extend_i32_u i64.trunc_f32_s i64.trunc_f32_u i64.trunc_f64_s i64.trunc_f64_u
f32.convert_i32_s f32.convert_i32_u f32.convert_i64_s f32.convert_i64_u f32.demote_f64
f64.convert_i32_s f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32
i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64
i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s i64.extend32_s`

// access lists the loads and stores from 0x28 on, each with the power of two
// that is its natural alignment.
const access = `
i32.load:2 i64.load:3 f32.load:2 f64.load:3
i32.load8_s:0 i32.load8_u:0 i32.load16_s:1 i32.load16_u:1
i64.load8_s:0 i64.load8_u:0 i64.load16_s:1 i64.load16_u:1 i64.load32_s:2 i64.load32_u:2
i32.store:2 i64.store:3 f32.store:2 f64.store:3
i32.store8:0 i32.store16:1 i64.store8:0 i64.store16:1 i64.store32:2`

// instructions is a table that never changes.
var instructions = func() map[string]instruction {
	t := map[string]instruction{
		"unreachable": {code: []byte{0x00}}, "nop": {code: []byte{0x01}}, "return": {code: []byte{0x0f}},
		"drop": {code: []byte{0x1a}}, "select": {code: []byte{0x1b}},
		"br": {code: []byte{0x0c}, kind: immLabel}, "br_if": {code: []byte{0x0d}, kind: immLabel},
		"br_table": {code: []byte{0x0e}, kind: immLabels},
		"call":     {code: []byte{0x10}, kind: immFunc}, "call_indirect": {code: []byte{0x11}, kind: immType},
		"local.get": {code: []byte{0x20}, kind: immLocal}, "local.set": {code: []byte{0x21}, kind: immLocal},
		"local.tee": {code: []byte{0x22}, kind: immLocal}, "global.get": {code: []byte{0x23}, kind: immGlobal},
		"global.set": {code: []byte{0x24}, kind: immGlobal}, "table.get": {code: []byte{0x25}, kind: immIndex},
		"table.set": {code: []byte{0x26}, kind: immIndex}, "memory.size": {code: []byte{0x3f}, kind: immZero},
		"memory.grow": {code: []byte{0x40}, kind: immZero}, "i32.const": {code: []byte{0x41}, kind: immI32},
		"i64.const": {code: []byte{0x42}, kind: immI64}, "ref.null": {code: []byte{0xd0}, kind: immHeap},
		"ref.func":    {code: []byte{0xd2}, kind: immFunc},
		"memory.init": {code: []byte{0xfc, 8}, kind: immData}, "data.drop": {code: []byte{0xfc, 9}, kind: immIndex},
		"memory.copy": {code: []byte{0xfc, 10}, kind: immZeros}, "memory.fill": {code: []byte{0xfc, 11}, kind: immZero},
		"table.grow": {code: []byte{0xfc, 15}, kind: immIndex}, "table.size": {code: []byte{0xfc, 16}, kind: immIndex},
		"table.fill":  {code: []byte{0xfc, 17}, kind: immIndex},
		"return_call": {code: []byte{0x12}, kind: immFunc},
	}
	for i, op := range strings.Fields(numeric) {
		t[op] = instruction{code: []byte{byte(0x45 + i)}}
	}
	for i, op := range strings.Fields(access) {
		op, align, _ := strings.Cut(op, ":")
		t[op] = instruction{code: []byte{byte(0x28 + i)}, kind: immMemory, align: align[0] - '0'}
	}
	return t
}()
