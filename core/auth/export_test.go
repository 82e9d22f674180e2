package auth

// Do lets tests take a Hasher's turn.
var Do = (*Hasher).do
