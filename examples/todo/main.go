// The todo plugin: four methods over the ToDo DocType.
package main

import "armature/sdk/go"

// A module of this kind has no main to run: the server calls the exports.
func main() {}

//go:wasmexport acme.todo.close
func exportClose(n int32) { armature.Handle(n, closeToDo) }

//go:wasmexport acme.todo.show
func exportShow(n int32) { armature.Handle(n, show) }

//go:wasmexport acme.todo.summary
func exportSummary(n int32) { armature.Handle(n, summary) }

//go:wasmexport acme.todo.echo
func exportEcho(n int32) { armature.Handle(n, echo) }
