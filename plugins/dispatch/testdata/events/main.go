// A guest with handlers of document events. It talks to the host directly, as a
// language without an SDK would.
package main

import (
	"encoding/json"
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

//go:wasmimport armature1 doc_insert
func docInsert(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

//go:wasmimport armature1 doc_update
func docUpdate(in unsafe.Pointer, n uint32, out unsafe.Pointer, room uint32) int32

type object = map[string]any

func main() {}

// validate refuses some descriptions, and completes the others.
//
//go:wasmexport t.events.validate
func validate(n int32) {
	ev := receive(n)
	doc := ev["doc"].(object)
	switch doc["description"] {
	case "refuse":
		fail(2, object{"exc_type": "NotToday", "message": "not today"})
	case "owner":
		send(object{"no_such_field": 1, "owner": "somebody@example.com"})
	case "list":
		send([]int{1})
	default:
		text := ev["event"].(string) + " of a new document"
		if before, ok := ev["before"].(object); ok {
			text = ev["event"].(string) + " after " + before["description"].(string)
		}
		send(object{"description": text, "status": "Closed"})
	}
}

// updated writes another document in the same transaction.
//
//go:wasmexport t.events.updated
func updated(n int32) {
	doc := receive(n)["doc"].(object)
	call(docInsert, object{"doc": object{"doctype": "Note", "title": "about " + doc["name"].(string)}})
	send(object{"status": "Open"}) // too late: nothing is set after the write
}

// again changes the document whose change it hears of, for ever.
//
//go:wasmexport t.events.again
func again(n int32) {
	doc := receive(n)["doc"].(object)
	if doc["title"] == "for ever" {
		call(docUpdate, object{"doctype": "Note", "name": doc["name"], "doc": object{"title": "for ever"}})
	}
}

// trace notes which event it hears, and refuses to go to Mordor.
//
//go:wasmexport t.events.trace
func trace(n int32) {
	ev := receive(n)
	doc := ev["doc"].(object)
	call(docInsert, object{"doc": object{"doctype": "Note", "title": ev["event"]}})
	if doc["to"] == "Ulm and back" && ev["event"] == "before_save" {
		send(object{"stops": []object{{"place": "Ulm"}, {"place": "home"}}, "docstatus": 1, "owner": "nobody"})
	}
	if doc["to"] == ev["event"] {
		fail(2, object{"message": "one does not simply walk there"})
	}
}

// insert stores its argument doc.
//
//go:wasmexport t.events.insert
func insert(n int32) { send(call(docInsert, object{"doc": receive(n)["doc"]})) }

//go:wasmexport t.events.garbage
func garbage(int32) {
	text := []byte("{garbage")
	output(unsafe.Pointer(&text[0]), uint32(len(text)))
}

var kept [][]byte

//go:wasmexport t.events.grow
func grow(int32) {
	for {
		kept = append(kept, make([]byte, 8<<20))
	}
}

//go:wasmexport manual
func manual(n int32) { send(receive(n)) }

// shapeless is no method, and cannot be made one by listing it.
//
//go:wasmexport shapeless
func shapeless(a, b int32) int32 { return a + b }

func receive(n int32) (v object) {
	text := make([]byte, n)
	input(unsafe.Pointer(&text[0]), uint32(n))
	if err := json.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	return v
}

func encode(v any) (unsafe.Pointer, uint32) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return unsafe.Pointer(&text[0]), uint32(len(text))
}

func send(v any) {
	p, n := encode(v)
	output(p, n)
}

func fail(kind int32, body any) {
	p, n := encode(body)
	throw(kind, p, n)
}

// call passes an error on, as most plugins do.
func call(capability func(unsafe.Pointer, uint32, unsafe.Pointer, uint32) int32, request any) (v object) {
	p, n := encode(request)
	size := capability(p, n, nil, 0)
	answer := make([]byte, 64<<10)
	left := take(unsafe.Pointer(&answer[0]), uint32(len(answer)))
	if size < 0 {
		throw(-size, unsafe.Pointer(&answer[0]), uint32(left))
	}
	if err := json.Unmarshal(answer[:size], &v); err != nil {
		panic(err)
	}
	return v
}
