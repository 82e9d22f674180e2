//go:build wasip1

// The host's functions as they are. Each wrapper is a function of its own, not
// an entry of a table: the linker then keeps only the imports a plugin really
// reaches, and the import section is what the plugin asks permission for.

package raw

import "unsafe"

//go:wasmimport armature1 input
//go:noescape
func hostInput(p unsafe.Pointer, n int32) int32

//go:wasmimport armature1 output
//go:noescape
func hostOutput(p unsafe.Pointer, n int32)

//go:wasmimport armature1 throw
//go:noescape
func hostThrow(kind int32, p unsafe.Pointer, n int32)

//go:wasmimport armature1 take
//go:noescape
func hostTake(p unsafe.Pointer, n int32) int32

//go:wasmimport armature1 log
//go:noescape
func hostLog(level int32, p unsafe.Pointer, n int32)

//go:wasmimport armature1 now
func hostNow() int64

//go:wasmimport armature1 random
//go:noescape
func hostRandom(p unsafe.Pointer, n int32)

//go:wasmimport armature1 doc_get
//go:noescape
func hostDocGet(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 doc_list
//go:noescape
func hostDocList(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 doc_count
//go:noescape
func hostDocCount(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 doc_insert
//go:noescape
func hostDocInsert(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 doc_update
//go:noescape
func hostDocUpdate(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 doc_delete
//go:noescape
func hostDocDelete(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 doc_submit
//go:noescape
func hostDocSubmit(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 doc_cancel
//go:noescape
func hostDocCancel(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 method_call
//go:noescape
func hostMethodCall(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 caller_get
//go:noescape
func hostCallerGet(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 config_get
//go:noescape
func hostConfigGet(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 kv_get
//go:noescape
func hostKVGet(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 kv_set
//go:noescape
func hostKVSet(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 kv_delete
//go:noescape
func hostKVDelete(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 http_fetch
//go:noescape
func hostHTTPFetch(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 connected_request
//go:noescape
func hostConnectedRequest(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 request_get
//go:noescape
func hostRequestGet(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 respond
//go:noescape
func hostRespond(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

//go:wasmimport armature1 enqueue
//go:noescape
func hostEnqueue(in unsafe.Pointer, inLen int32, out unsafe.Pointer, outCap int32) int32

// Input copies the call's input into b and returns its full length.
func Input(b []byte) int32 { return hostInput(at(b), size(b)) }

// Output sets the call's result.
func Output(b []byte) { hostOutput(at(b), size(b)) }

// Throw ends the call with an error. It does not return.
func Throw(kind int32, b []byte) {
	hostThrow(kind, at(b), size(b))
	panic("armature: throw returned")
}

// Take copies what is left of the latest result into b and returns how much
// was left before.
func Take(b []byte) int32 { return hostTake(at(b), size(b)) }

// Log writes one line.
func Log(level int32, b []byte) { hostLog(level, at(b), size(b)) }

// Now is the host's clock in microseconds since the Unix epoch.
func Now() int64 { return hostNow() }

// Random fills b.
func Random(b []byte) { hostRandom(at(b), size(b)) }

// The capabilities: JSON in, JSON out.

func DocGet(in, out []byte) int32     { return hostDocGet(at(in), size(in), at(out), size(out)) }
func DocList(in, out []byte) int32    { return hostDocList(at(in), size(in), at(out), size(out)) }
func DocCount(in, out []byte) int32   { return hostDocCount(at(in), size(in), at(out), size(out)) }
func DocInsert(in, out []byte) int32  { return hostDocInsert(at(in), size(in), at(out), size(out)) }
func DocUpdate(in, out []byte) int32  { return hostDocUpdate(at(in), size(in), at(out), size(out)) }
func DocDelete(in, out []byte) int32  { return hostDocDelete(at(in), size(in), at(out), size(out)) }
func DocSubmit(in, out []byte) int32  { return hostDocSubmit(at(in), size(in), at(out), size(out)) }
func DocCancel(in, out []byte) int32  { return hostDocCancel(at(in), size(in), at(out), size(out)) }
func MethodCall(in, out []byte) int32 { return hostMethodCall(at(in), size(in), at(out), size(out)) }
func CallerGet(in, out []byte) int32  { return hostCallerGet(at(in), size(in), at(out), size(out)) }
func ConfigGet(in, out []byte) int32  { return hostConfigGet(at(in), size(in), at(out), size(out)) }
func KVGet(in, out []byte) int32      { return hostKVGet(at(in), size(in), at(out), size(out)) }
func KVSet(in, out []byte) int32      { return hostKVSet(at(in), size(in), at(out), size(out)) }
func KVDelete(in, out []byte) int32   { return hostKVDelete(at(in), size(in), at(out), size(out)) }
func HTTPFetch(in, out []byte) int32  { return hostHTTPFetch(at(in), size(in), at(out), size(out)) }
func ConnectedRequest(in, out []byte) int32 {
	return hostConnectedRequest(at(in), size(in), at(out), size(out))
}
func RequestGet(in, out []byte) int32 { return hostRequestGet(at(in), size(in), at(out), size(out)) }
func Respond(in, out []byte) int32    { return hostRespond(at(in), size(in), at(out), size(out)) }
func Enqueue(in, out []byte) int32    { return hostEnqueue(at(in), size(in), at(out), size(out)) }

func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
func size(b []byte) int32        { return int32(len(b)) }
