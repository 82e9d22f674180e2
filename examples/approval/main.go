// The approval plugin: purchase requests that a team lead and then finance
// approve.
package main

import "armature/sdk/go"

// A module of this kind has no main to run: the server calls the exports.
func main() {}

//go:wasmexport acme.approval.check
func exportCheck(n int32) { armature.Handle(n, check) }

//go:wasmexport acme.approval.may_submit
func exportMaySubmit(n int32) { armature.Handle(n, maySubmit) }

//go:wasmexport acme.approval.submitted
func exportSubmitted(n int32) { armature.Handle(n, submitted) }

//go:wasmexport acme.approval.approve
func exportApprove(n int32) { armature.Handle(n, approve) }

//go:wasmexport acme.approval.reject
func exportReject(n int32) { armature.Handle(n, reject) }

//go:wasmexport acme.approval.pending
func exportPending(n int32) { armature.Handle(n, pending) }

// What encoding/json has to find out about these types is found out once, before
// the first call.
func init() {
	armature.Prepare(armature.Event[Request]{}, Request{}, Changes{}, Deciding{}, []Waiting{})
}
