// Package engine runs guests: WebAssembly modules written by people we do not
// trust, called many thousand times a second.
//
// An [Engine] holds the compiler and every loaded module. A [Module] is the
// compiled form of one binary; it is shared by all who load the same bytes and
// counted. A [Call] is one run of one exported function; host functions (an
// [Import] each) reach it, and through it the guest's memory. [Limits] bound a
// call, [Usage] says what it cost, [Error] says why it failed.
//
// Every call starts from the same state: the memory and globals a module had
// after its own initialisation. Nothing a call leaves behind is seen by the
// next one.
//
// Packages below it run a call and make an instance; README.md says which does what.
// Only they and this one know the WebAssembly runtime; nothing of it shows in this
// package's interface.
package engine
