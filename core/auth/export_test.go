package auth

import "context"

// Do lets tests take a Hasher's turn, as somebody at one site.
func Do(h *Hasher, ctx context.Context, fn func() error) error { return h.do(ctx, nil, fn) }

// DoAt lets tests take the turn of a site.
var DoAt = (*Hasher).do

// Compute lets tests hold the core on which a Hasher hashes.
var Compute = (*Hasher).compute
