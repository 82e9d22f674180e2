// A guest that calls any import in any way it is told to.
package main

import (
	"encoding/json"
	"runtime"
	"unsafe"
)

//go:wasmimport armature1 input
func input(p unsafe.Pointer, n uint32) int32

//go:wasmimport armature1 output
func output(p unsafe.Pointer, n uint32)

//go:wasmimport armature1 throw
func throw(kind int32, p unsafe.Pointer, n uint32)

//go:wasmimport armature1 take
func take(p unsafe.Pointer, n uint32) int32

//go:wasmimport armature1 log
func log(level int32, p unsafe.Pointer, n uint32)

//go:wasmimport armature1 now
func now() int64

//go:wasmimport armature1 random
func random(p unsafe.Pointer, n uint32)

//go:wasmimport armature1 doc_get
func docGet(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_list
func docList(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_count
func docCount(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_insert
func docInsert(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_update
func docUpdate(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_delete
func docDelete(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_submit
func docSubmit(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_cancel
func docCancel(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 method_call
func methodCall(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 caller_get
func callerGet(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 config_get
func configGet(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 kv_get
func kvGet(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 kv_set
func kvSet(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 kv_delete
func kvDelete(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 http_fetch
func httpFetch(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 connected_request
func connectedRequest(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 publish
func publish(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 enqueue
func enqueue(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 request_get
func requestGet(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 respond
func respond(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

type capability func(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

var capabilities = map[string]capability{
	"doc_get": docGet, "doc_list": docList, "doc_count": docCount, "doc_insert": docInsert,
	"doc_update": docUpdate, "doc_delete": docDelete, "doc_submit": docSubmit, "doc_cancel": docCancel,
	"method_call": methodCall, "caller_get": callerGet, "config_get": configGet, "kv_get": kvGet,
	"request_get": requestGet, "respond": respond,
	"kv_set": kvSet, "kv_delete": kvDelete, "http_fetch": httpFetch, "connected_request": connectedRequest, "enqueue": enqueue, "publish": publish,
}

// Step is one import to call.
type Step struct {
	Import  string          `json:"import"`
	Request json.RawMessage `json:"request"` // what a capability is asked, or a text is
	Room    uint32          `json:"room"`    // of the buffer for the answer
	Kind    int32           `json:"kind"`    // of throw, level of log
	At      *uint32         `json:"at"`      // a pointer to hand over instead of a real one
	Length  *uint32         `json:"length"`  // a length to hand over instead of the real one
}

// Answer is what came of a step.
type Answer struct {
	Result int64  `json:"result"`
	Out    string `json:"out,omitempty"`  // what the host wrote
	Rest   string `json:"rest,omitempty"` // what take gave, in pieces of seven bytes
}

var initial int32

func init() { initial = input(nil, 0) } // what the guest may not do yet

func main() {}

//go:wasmexport t.guest.run
func run(n int32) {
	text := make([]byte, n)
	if n > 0 && input(unsafe.Pointer(&text[0]), uint32(n)) != n {
		panic("input has another length than the export was given")
	}
	var args struct{ Steps []Step }
	if err := json.Unmarshal(text, &args); err != nil {
		panic(err)
	}
	var answers []Answer
	for _, s := range args.Steps {
		answers = append(answers, s.run())
	}
	send(answers)
}

//go:wasmexport t.guest.initial
func initially(int32) { send(initial) }

//go:wasmexport t.guest.raw
func raw(int32) {
	text := []byte("{not json")
	output(unsafe.Pointer(&text[0]), uint32(len(text)))
}

//go:wasmexport t.guest.silent
func silent(int32) {}

//go:wasmexport t.guest.print
func print(int32) { println("to standard error") }

func (s Step) run() (a Answer) {
	in, n := at(s.Request), uint32(len(s.Request))
	out := make([]byte, s.Room+1)
	room := s.Room
	if s.At != nil {
		in = unsafe.Pointer(uintptr(*s.At))
	}
	if s.Length != nil {
		n = *s.Length
	}
	switch s.Import {
	case "output":
		output(in, n)
	case "throw":
		throw(s.Kind, in, n)
	case "log":
		log(s.Kind, in, n)
	case "now":
		a.Result = now()
	case "random":
		random(unsafe.Pointer(&out[0]), room)
		a.Out = string(out[:room])
	case "random at":
		random(in, n)
	case "take at":
		a.Result = int64(take(in, n))
	case "answer at":
		ask := []byte(`{}`)
		a.Result = int64(callerGet(unsafe.Pointer(&ask[0]), 2, in, n))
	default:
		a.Result = int64(capabilities[s.Import](in, n, unsafe.Pointer(&out[0]), room))
		if a.Result > 0 {
			a.Out = string(out[:min(uint32(a.Result), room)])
		}
		a.Rest = drain()
	}
	runtime.KeepAlive(s.Request)
	return a
}

// drain takes what is left, in pieces of seven bytes.
func drain() string {
	var all []byte
	for {
		var piece [7]byte
		left := take(unsafe.Pointer(&piece[0]), uint32(len(piece)))
		all = append(all, piece[:min(int(left), len(piece))]...)
		if int(left) <= len(piece) {
			return string(all)
		}
	}
}

func at(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Pointer(&b[0])
}

func send(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	output(at(text), uint32(len(text)))
}
