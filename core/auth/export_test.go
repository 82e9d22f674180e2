package auth

// Do lets tests take a Hasher's turn.
var Do = (*Hasher).do

// Compute lets tests hold the core on which a Hasher hashes.
var Compute = (*Hasher).compute
