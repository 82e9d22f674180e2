// The profile plugin: who is the caller at another service?
package main

import "armature/sdk/go"

// A module of this kind has no main to run: the server calls the exports.
func main() {}

//go:wasmexport acme.profile.show
func exportShow(n int32) { armature.Handle(n, show) }
