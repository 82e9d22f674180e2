// Package account keeps the account of a process's memory: what takes much of it is
// charged before it is taken, and given back once.
//
// An [Account] has a total. A [Call] is what one request, or another piece of work,
// holds of it; it counts at the same time for the Connection that it came over, for
// its site and, until it is known whom it is from, for the strangers of the site.
// Each of these has a share that it cannot exceed, however much is free. Who finds
// none free waits a moment, and is then refused with a fault that says when to try
// again.
//
// What is charged is what a thing becomes at its peak, as measured, and not the
// length at which it arrives.
package account
