// Package armature is what a plugin written in Go imports.
//
// A method is an exported function of the module, named by its dotted path,
// that hands a typed function to Handle:
//
//	//go:wasmexport acme.todo.close
//	func exportClose(n int32) { armature.Handle(n, closeToDo) }
//
//	func closeToDo(in CloseArgs) (armature.Doc, error) {
//		return armature.Update("ToDo", in.Name, armature.Doc{"status": "Closed"})
//	}
//
// The argument is decoded from the call's JSON, the result is encoded as the
// call's JSON, a returned error becomes the call's error and rolls the
// transaction back. Methods are listed in armature.json; an export that is not
// listed there cannot be called.
//
// Everything is done as the caller of the method, in the transaction of the
// request: no function here names a user and none commits.
//
// Every call starts from the same state, the one after package initialisation.
// Nothing that a call leaves in a variable is seen by a later one; what must
// last is stored in documents. The same holds for generators seeded at
// initialisation, such as package math/rand: they repeat. Use Random.
//
// There is one host per instance and one call at a time, so the functions of
// this package need no context; they are not safe for use by several goroutines
// at once. MarshalJSON and UnmarshalJSON methods must not call them.
//
// Package armaturetest is for the tests of a plugin, which run where plugins run, on
// a real site.
package armature
