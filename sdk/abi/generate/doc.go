// Command generate writes the edges of the contract: everything that has to say
// the same in several languages is made from sdk/abi/contract.json, which is the
// one source of it. `make generate` runs it, and `generate -check` says which
// files it would change.
//
// An output is a whole file or a region of one: a header that is to stay a single
// file keeps its generated lines between two markers. Each is made by a template
// in the folder templates, which looks like what comes out of it.
//
// A request is made of the JSON Schema of a capability. A member that may be missing
// is left out where it is empty; a number only if its schema has a minimum above 0 or
// the default 0, and is of a type that may be absent otherwise: 0 rows are all rows.
package main
