// Package egress is the one way out: every HTTP request that the platform or a
// guest makes to somebody else goes through Client.Do.
//
// A Policy says what one call may do: which hosts, which methods, how many
// bytes, how long. A target is a URL after it was checked, with its host in one
// spelling. A hop is one request on the way of a call; a redirect makes the
// next one, and each is checked as if it had been asked for.
//
// A host name is a promise which whoever runs its DNS can change between two
// lookups. So the address is checked where the connection is made, and nowhere
// before it.
package egress
