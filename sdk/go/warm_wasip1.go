//go:build wasip1

package armature

// sample looks like most documents do.
const sample = `{"name":"a1b2c3d4e5","owner":"user@example.com",
"creation":"2026-01-02 03:04:05.000000","modified":"2026-01-02 03:04:05.000000",
"modified_by":"user@example.com","idx":0,"docstatus":0,"doctype":"ToDo",
"status":"Open","priority":"Medium","amount":1.5,"done":true,"description":"<p>\"x\"</p>",
"items":[{"name":"r1","idx":1,"rate":2.25},{"name":"r2","idx":2,"rate":3}]}`

// warm runs once, before the state is frozen from which every call starts. What
// it does here, calls find done. Go's allocator sets a page range aside for each
// size of object when it first meets it, which costs more than the object;
// one of each size up to 1 KiB, with and without pointers, is made here.
//
//go:wasmexport armature_warm
func warm() {
	for size := 8; size <= 1024; size += 8 {
		allocated.bytes = make([]byte, size)
		allocated.pointers = make([]*byte, size/8)
	}
	for range 3 {
		var doc Doc
		if decode([]byte(sample), &doc) != nil {
			return
		}
		if _, err := encode(scratch.answer[:0], doc); err != nil {
			return
		}
	}
	spare = make(map[string]any, 8)
	spare["member"] = nil // which makes the room
	delete(spare, "member")
}

// allocated keeps the compiler from leaving the allocations out.
var allocated struct {
	bytes    []byte
	pointers []*byte
}
