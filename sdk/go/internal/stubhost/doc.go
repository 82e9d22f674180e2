// Package stubhost stands in for the server in a plugin's own tests: documents
// in memory, a caller, a clock and a log, but no wasm and no network.
//
//	func TestClose(t *testing.T) {
//		h := stubhost.New(t)
//		h.Put("ToDo", armature.Doc{"name": "T1", "status": "Open"})
//		var doc armature.Doc
//		err := h.Call(exportClose, armature.Doc{"name": "T1"}, &doc)
//		...
//	}
//
// It knows no DocTypes, so it checks no fields, no links and no permissions;
// refusals are staged with Host.On. Call keeps the promise that matters to a
// method: what it wrote is gone if it fails.
package stubhost
