// Package abi names what crosses the boundary between the host and a guest,
// version 1: imports, exports, codes and bounds. The prose is sdk/abi/abi.md;
// a test keeps the two and core/fault equal.
//
// Nothing here may change in place. An addition is a new name; a break is a new
// import module name.
package abi

// Module is the import module of ABI version 1. The version is in the name, so
// a guest built for another one fails at load with the imports named.
const Module = "armature1"

// Version is the number a manifest states in "abi".
const Version = 1

// Imports with a shape of their own.
const (
	Input  = "input"  // (ptr, cap) -> len
	Output = "output" // (ptr, len)
	Throw  = "throw"  // (kind, ptr, len), never returns
	Take   = "take"   // (ptr, cap) -> len
	Log    = "log"    // (level, ptr, len)
	Now    = "now"    // () -> i64, microseconds since the Unix epoch
	Random = "random" // (ptr, len)
)

// Imports of the one capability shape (in, in_len, out, out_cap) -> len: JSON
// in, JSON out; a result >= 0 is the full length of the answer (fetch what did
// not fit with take), a negative one is -kind with the error's JSON in take.
const (
	DocGet    = "doc_get"
	DocList   = "doc_list"
	DocCount  = "doc_count"
	DocInsert = "doc_insert"
	DocUpdate = "doc_update"
	DocDelete = "doc_delete"
	DocSubmit = "doc_submit"
	DocCancel = "doc_cancel"

	MethodCall = "method_call"
	CallerGet  = "caller_get"
	ConfigGet  = "config_get"

	KVGet    = "kv_get"
	KVSet    = "kv_set"
	KVDelete = "kv_delete"

	HTTPFetch        = "http_fetch"
	ConnectedRequest = "connected_request"
	RequestGet       = "request_get"
	Respond          = "respond"
	Enqueue          = "enqueue"
)

// Exports the host looks for.
const (
	Memory     = "memory"
	Initialize = "_initialize"     // WASI reactor start; runs once, before the snapshot
	Warm       = "armature_warm"   // optional; runs once, before the snapshot
	Resume     = "armature_resume" // optional; runs at the start of every call
)

// ReservedPrefix starts every export name the host adds to a module when it
// rewrites it. A module that brings such a name is refused.
const ReservedPrefix = "\x00armature."

// ManifestSection is the custom section in which a bundle carries its manifest.
const ManifestSection = "armature.manifest"

// Custom sections of a module that stands for a script: the ES module in
// JavaScript that is run in place of its code, and that one's source map.
const (
	ScriptSection    = "armature.script"
	ScriptMapSection = "armature.script.map"
)

// Log levels of the log import.
const (
	LevelDebug = 0
	LevelInfo  = 1
	LevelWarn  = 2
	LevelError = 3
)

// Capabilities lists the imports of the capability shape in the order of the
// specification.
func Capabilities() []string {
	return []string{
		DocGet, DocList, DocCount, DocInsert, DocUpdate, DocDelete, DocSubmit, DocCancel,
		MethodCall, CallerGet, ConfigGet, KVGet, KVSet, KVDelete,
		HTTPFetch, ConnectedRequest, RequestGet, Respond, Enqueue,
	}
}
