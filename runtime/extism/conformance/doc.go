// Package conformance runs plugins for Extism on a running server: those that its
// own kits make, and the samples of its SDK for Go, whose answers the SDK itself
// gives for comparison. It is a module of its own, which imports nothing of the
// product, so that none of it is a dependency.
package conformance
