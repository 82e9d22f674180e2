// The conformance plugin in Go; what each method does is described in
// ../../README.md.
package main

import "armature/sdk/go"

func main() {}

//go:wasmexport echo
func exportEcho(n int32) { armature.Handle(n, echo) }

//go:wasmexport arguments
func exportArguments(n int32) { armature.Handle(n, arguments) }

//go:wasmexport find
func exportFind(n int32) { armature.Handle(n, find) }

//go:wasmexport transfer
func exportTransfer(n int32) { armature.Handle(n, transfer) }

//go:wasmexport order
func exportOrder(n int32) { armature.Handle(n, order) }

//go:wasmexport show
func exportShow(n int32) { armature.Handle(n, show) }

//go:wasmexport close
func exportClose(n int32) { armature.Handle(n, closeToDo) }

//go:wasmexport check
func exportCheck(n int32) { armature.Handle(n, check) }

//go:wasmexport attempt
func exportAttempt(n int32) { armature.Handle(n, attempt) }

//go:wasmexport raise
func exportRaise(n int32) { armature.Handle(n, raise) }

//go:wasmexport crash
func exportCrash(n int32) { armature.Handle(n, crash) }

//go:wasmexport tally
func exportTally(n int32) { armature.Handle(n, tally) }

//go:wasmexport relay
func exportRelay(n int32) { armature.Handle(n, relay) }

//go:wasmexport who
func exportWho(n int32) { armature.Handle(n, who) }

//go:wasmexport setting
func exportSetting(n int32) { armature.Handle(n, setting) }

//go:wasmexport keep
func exportKeep(n int32) { armature.Handle(n, keep) }

//go:wasmexport recall
func exportRecall(n int32) { armature.Handle(n, recall) }

//go:wasmexport forget
func exportForget(n int32) { armature.Handle(n, forget) }

//go:wasmexport say
func exportSay(n int32) { armature.Handle(n, say) }

//go:wasmexport clock
func exportClock(n int32) { armature.Handle(n, clock) }

//go:wasmexport asked
func exportAsked(n int32) { armature.Handle(n, asked) }

//go:wasmexport reply
func exportReply(n int32) { armature.Handle(n, reply) }

//go:wasmexport tell
func exportTell(n int32) { armature.Handle(n, tell) }

//go:wasmexport reach
func exportReach(n int32) { armature.Handle(n, reach) }

//go:wasmexport send
func exportSend(n int32) { armature.Handle(n, send) }

//go:wasmexport connect
func exportConnect(n int32) { armature.Handle(n, connect) }

//go:wasmexport verify
func exportVerify(n int32) { armature.Handle(n, verify) }

//go:wasmexport letter
func exportLetter(n int32) { armature.Handle(n, letter) }

//go:wasmexport spin
func exportSpin(n int32) { armature.Handle(n, spin) }
