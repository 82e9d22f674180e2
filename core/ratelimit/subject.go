package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strconv"

	"armature/core/identity"
)

// maxSubject is the longest text that stands in a key as it is.
const maxSubject = 64

// subject is the part of a key that stands for a text: its length first, so that
// no two lists of texts make one key, and a digest of a long one, so that nobody
// fills the memory with one argument.
func subject(text string) string {
	if len(text) > maxSubject {
		sum := sha256.Sum256([]byte(text))
		return "#" + hex.EncodeToString(sum[:]) // no length begins with #
	}
	return strconv.Itoa(len(text)) + ":" + text
}

// userSubject is the user; somebody who is not logged in is an address.
func (s Subject) userSubject() string {
	if s.User == identity.Guest {
		return "@" + subject(network(s.IP))
	}
	return subject(s.User)
}

// agentSubject is a user by one application: each agent that acts for a user is one.
func (s Subject) agentSubject() string { return s.userSubject() + subject(s.Client) }

func (s Subject) argument(name string) string {
	if s.Argument == nil {
		return ""
	}
	return s.Argument(name)
}

// network is what an address counts as: an IPv4 address itself, of an IPv6 one
// the /64, all of which one customer has.
func network(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	prefix, err := addr.Prefix(64)
	if err != nil {
		return ip
	}
	return prefix.String()
}
