// Package peers compares runtime/engine with what else runs guests in a Go
// program, doing the same work in one run.
//
// A peer is one way to run the echo guest: a request of about 100 bytes goes in,
// the guest asks the host for a document of about 500, and answers with it.
package peers_test
