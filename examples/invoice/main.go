// The invoice plugin: invoices that add themselves up, and who still owes what.
package main

import "armature/sdk/go"

// A module of this kind has no main to run: the server calls the exports.
func main() {}

//go:wasmexport acme.invoice.add_up
func exportAddUp(n int32) { armature.Handle(n, addUp) }

//go:wasmexport acme.invoice.settle
func exportSettle(n int32) { armature.Handle(n, settle) }

//go:wasmexport acme.invoice.may_cancel
func exportMayCancel(n int32) { armature.Handle(n, mayCancel) }

//go:wasmexport acme.invoice.pay
func exportPay(n int32) { armature.Handle(n, pay) }

//go:wasmexport acme.invoice.outstanding
func exportOutstanding(n int32) { armature.Handle(n, outstanding) }

// What encoding/json has to find out about these types is found out once, before
// the first call.
func init() {
	armature.Prepare(armature.Event[Invoice]{}, Totals{}, Settled{}, Invoice{}, Payment{}, Query{}, Debts{}, []Debt{})
}
