// A guest written in plain Go, built by the tests with the Go toolchain as a
// WASI reactor.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"time"
	"unsafe"
)

func main() {}

//go:wasmimport host input
func hostInput(p unsafe.Pointer, n uint32) uint32

//go:wasmimport host output
func hostOutput(p unsafe.Pointer, n uint32)

//go:wasmimport host doc
func hostDoc(in unsafe.Pointer, n uint32, out unsafe.Pointer, limit uint32) uint32

var (
	request, reply [4096]byte
	counter        int32
	kept           [][]byte
)

func input(n int32) []byte {
	hostInput(unsafe.Pointer(&request[0]), uint32(len(request)))
	return request[:n]
}

func output(b []byte) { hostOutput(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b))) }

//go:wasmexport armature_warm
func warm() {
	var v map[string]any
	_ = json.Unmarshal([]byte(`{"a":[1,2.5,"x"],"b":null}`), &v)
	_, _ = json.Marshal(v)
}

//go:wasmexport echo
func echo(n int32) {
	in := input(n)
	head := copy(reply[:], `{"ok":true,"data":`)
	m := hostDoc(unsafe.Pointer(&in[0]), uint32(n), unsafe.Pointer(&reply[head]), uint32(len(reply)-head))
	reply[head+int(m)] = '}'
	output(reply[:head+int(m)+1])
}

//go:wasmexport json
func jsonMethod(n int32) {
	var v map[string]any
	if err := json.Unmarshal(input(n), &v); err != nil {
		panic(err)
	}
	v["ok"] = true
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	output(b)
}

//go:wasmexport count
func count() int32 { counter++; return counter }

//go:wasmexport grow
func grow(mib int32) {
	for range mib {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
}

//go:wasmexport hog
func hog() {
	for {
		kept = append(kept, make([]byte, 1<<20))
	}
}

//go:wasmexport loop
func loop(n int32) int32 {
	x := uint32(1)
	for range n {
		x = x*1664525 + 1013904223 ^ (x >> 7)
	}
	return int32(x & 0xff)
}

//go:wasmexport spin
func spin() {
	for {
		counter++
	}
}

//go:wasmexport recurse
func recurse(n int32) int32 {
	if n == 0 {
		return 0
	}
	return recurse(n-1) + 1
}

//go:wasmexport boom
func boom() { panic("boom") }

//go:wasmexport print
func print(n int32) { fmt.Printf("hello %d\nno newline", n) }

//go:wasmexport mathrandom
func mathRandom() int64 { return int64(mathrand.Uint64()) }

//go:wasmexport cryptorandom
func cryptoRandom() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return *(*int64)(unsafe.Pointer(&b))
}

//go:wasmexport clock
func clock() int64 { return time.Now().UnixNano() }

//go:wasmexport nap
func nap(ms int32) { time.Sleep(time.Duration(ms) * time.Millisecond) }
