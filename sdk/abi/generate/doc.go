// Command generate writes the edges of the contract: everything that has to say
// the same in several languages is made from sdk/abi/contract.json, which is the
// one source of it. `make generate` runs it, and `generate -check` says which
// files it would change.
//
// An output is a whole file or a region of one: a header that is to stay a single
// file keeps its generated lines between two markers. Each is made by a template
// in the folder templates, which looks like what comes out of it.
package main
