// Package extism runs plugins that are built for Extism, unmodified: it is a
// dialect of runtime/engine whose host functions are the kernel of Extism, in Go.
//
// In Extism host and guest share no memory of the guest's. The kernel has an
// address space of its own, from which both allocate blocks; a block is known by
// the address of its first byte, an i64, and reached eight bytes at a time. Here
// that is the [arena] of an instance. It is bounded with the instance's memory, and
// every call finds it as it was after the module's initialisation.
//
// What a plugin asks of the world beyond that (configuration, variables, HTTP, the
// log, and the documents of armature1 as functions of extism:host/user) goes to
// runtime/hostapi, under the same grants, limits and records as everybody's.
package extism
