// Package armaturetest is for the tests of a plugin. They run in what runs plugins
// on a server, with a real site beside them: documents, permissions, links, naming,
// hooks and child rows are the server's.
//
//	armature plugin test
//
// runs them; so does go test, for all its flags:
//
//	GOOS=wasip1 GOARCH=wasm go test -exec "armature plugin exec" ./...
//
// The plugin itself is built first and installed on each test's site. Call runs its
// methods as a client does, each call from the plugin's clean state; what a test
// writes by package armature is written at once, each call for itself, and runs the
// plugin's handlers of events.
//
//	func TestClose(t *testing.T) {
//		site := armaturetest.New(t)
//		todo := site.Insert("ToDo", armature.Doc{"description": "Call Zoë"})
//		var closed armature.Doc
//		if err := site.Call("acme.todo.close", armature.Doc{"name": todo.Name()}, &closed); err != nil {
//			t.Fatal(err)
//		}
//	}
package armaturetest
