// Package quickjs runs plugins that are JavaScript: it is an interpreter for
// runtime/engine made of the QuickJS engine, which is a WebAssembly module too,
// and of a prelude that gives scripts the host.
//
// A script is an ES module. Its exported functions are its exports in the
// engine's sense: they are called with the input, parsed, and what they return,
// or what their promise resolves to, is the output. A script is evaluated once,
// before the snapshot; every call finds it as it was then.
//
// To the host QuickJS is one guest more: its functions reach what armature1
// offers, so grants, limits and records are those of every call. The engine's
// fuel and depth hold inside of QuickJS, of which nothing here has to know.
//
// quickjs.wasm is not ours; quickjs.md says where it comes from.
package quickjs
