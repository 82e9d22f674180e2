// Package hostapi is what a guest can ask of the host: the imports of module
// armature1, a file per service. The contract, with every trap and error, is
// sdk/abi/abi.md.
//
// A Plugin is one plugin on one site: its name, grants, bounds and
// configuration. A State is one call of it; engine.Call.State holds it, and every
// host function starts from there. A capability is an import of the shape JSON
// in, JSON out; its operation knows documents or methods and nothing of the
// guest's memory.
//
// Whatever a guest does, it does as the caller of the method and in the
// transaction of the request: both come with the State and no import names
// either.
package hostapi
