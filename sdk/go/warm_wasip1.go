//go:build wasip1

package armature

// sample looks like most documents do.
const sample = `{"name":"a1b2c3d4e5","owner":"user@example.com",
"creation":"2026-01-02 03:04:05.000000","modified":"2026-01-02 03:04:05.000000",
"modified_by":"user@example.com","idx":0,"docstatus":0,"doctype":"ToDo",
"status":"Open","priority":"Medium","amount":1.5,"done":true,"description":"<p>\"x\"</p>",
"items":[{"name":"r1","idx":1,"rate":2.25},{"name":"r2","idx":2,"rate":3}]}`

// warm runs once, before the state is frozen from which every call starts. Going
// through what a call does there leaves Go's allocator and its goroutine for
// exports in use, and each page that is already written is one that calls find
// ready.
//
//go:wasmexport armature_warm
func warm() {
	for range 3 {
		var doc Doc
		if decode([]byte(sample), &doc) != nil {
			return
		}
		if _, err := encode(scratch.answer[:0], doc); err != nil {
			return
		}
	}
}
