// Package kv is what plugins keep for a while: a cache in memory, in which each
// plugin of each site has a store of its own.
//
// A Site holds the stores of its plugins; the host says whose one is asked for, and no
// guest does. A key is looked for in that store and in no other. Stores are bounded one by
// one, those of a site together where its operator says so, and all together. What is
// over a bound goes, longest unused first, so a value may be gone at any time. Where
// all sites together have too much, the one that writes makes room in what it keeps
// itself, unless it has less than its share: then the one that has most does.
package kv
