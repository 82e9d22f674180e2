// Package kv is what plugins keep for a while: a cache in memory, in which each
// plugin of each site has a store of its own.
//
// A Site holds the stores of its plugins; the host says whose one is asked for, and no
// guest does. A key is looked for in that store and in no other. Stores are bounded one by
// one and all together. What is over a bound goes, longest unused first, so a
// value may be gone at any time.
package kv
