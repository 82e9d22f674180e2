package egress

import "net/netip"

// class is what may be connected to at an address.
type class uint8

const (
	forbidden class = iota // by nobody
	private                // where the site allows the host by name
	public                 // by everybody
)

// globalUnicast6 is all of IPv6 that IANA has given out for the public. What is
// outside (link-local, multicast, discard, site-local, IPv4-compatible, ...)
// needs no entry below.
var globalUnicast6 = netip.MustParsePrefix("2000::/3")

// nat64 carries an IPv4 address in its last four bytes. Hosts with IPv6 alone
// reach every IPv4 server through it, so it counts as what it carries.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// within are the addresses of an organisation's own network.
var within = prefixes(
	"127.0.0.0/8", "::1/128", // loopback
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", // private use
	"100.64.0.0/10", // carrier-grade NAT
)

// never are parts of the above and of the public space that answer no honest
// request. See the IANA registries of special-purpose addresses.
var never = prefixes(
	"0.0.0.0/8",       // this network; connecting to 0.0.0.0 reaches the machine itself
	"169.254.0.0/16",  // link-local, and the metadata service of most clouds
	"192.0.0.0/24",    // protocol assignments; Oracle's metadata service
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast

	"2001::/23",     // protocol assignments: Teredo, ORCHID, benchmarks
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4, which carries any IPv4 address
	"3fff::/20",     // documentation

	"100.100.100.200/32", // metadata: Alibaba
	"168.63.129.16/32",   // metadata: Azure
	"fd00:ec2::/32",      // metadata: Amazon
	"fd20:ce::254/128",   // metadata: Google
	"fd00:42::42/128",    // metadata: Scaleway
)

// classify says who may connect to an address, whatever form it is written in.
func classify(a netip.Addr) class {
	a = a.Unmap()
	if a.Zone() != "" {
		return forbidden // an interface of this machine
	}
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	switch {
	case !a.IsValid() || contains(never, a):
		return forbidden
	case contains(within, a):
		return private
	case a.Is4() || globalUnicast6.Contains(a):
		return public
	}
	return forbidden
}

func contains(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func prefixes(list ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(list))
	for i, s := range list {
		all[i] = netip.MustParsePrefix(s)
	}
	return all
}
