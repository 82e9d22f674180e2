package egress_test

import (
	"net/netip"
	"testing"

	"armature/core/egress"
)

func TestClassify(t *testing.T) {
	names := map[any]string{egress.Forbidden: "forbidden", egress.Private: "private", egress.Public: "public"}
	tests := []struct {
		address string
		want    any
	}{
		{"1.1.1.1", egress.Public},
		{"9.255.255.255", egress.Public},
		{"11.0.0.0", egress.Public},
		{"100.63.255.255", egress.Public},
		{"100.128.0.0", egress.Public},
		{"172.15.255.255", egress.Public},
		{"172.32.0.0", egress.Public},
		{"192.0.1.1", egress.Public},
		{"223.255.255.255", egress.Public},
		{"2606:4700:4700::1111", egress.Public},
		{"2001:4860:4860::8888", egress.Public},
		{"::ffff:1.1.1.1", egress.Public},
		{"64:ff9b::1.1.1.1", egress.Public},

		{"127.0.0.1", egress.Private},
		{"127.255.255.254", egress.Private},
		{"10.0.0.1", egress.Private},
		{"172.16.0.1", egress.Private},
		{"172.31.255.255", egress.Private},
		{"192.168.1.1", egress.Private},
		{"100.64.0.1", egress.Private},
		{"100.127.255.255", egress.Private},
		{"::1", egress.Private},
		{"fc00::1", egress.Private},
		{"fdff:ffff::1", egress.Private},
		{"::ffff:127.0.0.1", egress.Private},
		{"::ffff:10.1.2.3", egress.Private},
		{"64:ff9b::10.0.0.1", egress.Private},

		{"0.0.0.0", egress.Forbidden},
		{"0.1.2.3", egress.Forbidden},
		{"169.254.169.254", egress.Forbidden},
		{"169.254.170.2", egress.Forbidden},
		{"100.100.100.200", egress.Forbidden},
		{"168.63.129.16", egress.Forbidden},
		{"192.0.0.192", egress.Forbidden},
		{"192.0.2.1", egress.Forbidden},
		{"192.88.99.1", egress.Forbidden},
		{"198.18.0.1", egress.Forbidden},
		{"198.19.255.255", egress.Forbidden},
		{"198.51.100.1", egress.Forbidden},
		{"203.0.113.1", egress.Forbidden},
		{"224.0.0.1", egress.Forbidden},
		{"239.255.255.255", egress.Forbidden},
		{"240.0.0.1", egress.Forbidden},
		{"255.255.255.255", egress.Forbidden},
		{"::", egress.Forbidden},
		{"::127.0.0.1", egress.Forbidden},
		{"::1.1.1.1", egress.Forbidden},
		{"::ffff:169.254.169.254", egress.Forbidden},
		{"::ffff:0.0.0.0", egress.Forbidden},
		{"::ffff:0:1.1.1.1", egress.Forbidden},
		{"64:ff9b::169.254.169.254", egress.Forbidden},
		{"64:ff9b:1::1", egress.Forbidden},
		{"100::1", egress.Forbidden},
		{"2001::1", egress.Forbidden},
		{"2001:2::1", egress.Forbidden},
		{"2001:10::1", egress.Forbidden},
		{"2001:db8::1", egress.Forbidden},
		{"2002:7f00:1::", egress.Forbidden},
		{"2002:101:101::1", egress.Forbidden},
		{"3fff::1", egress.Forbidden},
		{"4000::1", egress.Forbidden},
		{"5f00::1", egress.Forbidden},
		{"fd00:ec2::254", egress.Forbidden},
		{"fd20:ce::254", egress.Forbidden},
		{"fd00:42::42", egress.Forbidden},
		{"fe80::1", egress.Forbidden},
		{"fe80::1%eth0", egress.Forbidden},
		{"fc00::1%eth0", egress.Forbidden},
		{"fec0::1", egress.Forbidden},
		{"ff02::1", egress.Forbidden},
		{"ff0e::1", egress.Forbidden},
	}
	for _, tt := range tests {
		if got := egress.Classify(netip.MustParseAddr(tt.address)); any(got) != tt.want {
			t.Errorf("%s is %s, want %s", tt.address, names[got], names[tt.want])
		}
	}
	if egress.Classify(netip.Addr{}) != egress.Forbidden {
		t.Error("no address is allowed")
	}
}

// FuzzClassify compares with what the standard library knows of addresses, in
// every form an IPv4 address can take.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "::1", "fe80::1", "2001:db8::1", "64:ff9b::7f00:1", "2606:4700::1", "::ffff:a9fe:a9fe"} {
		f.Add(netip.MustParseAddr(s).AsSlice())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		got := egress.Classify(a)
		plain := a.Unmap()
		if got == egress.Public && (plain.IsPrivate() || !plain.IsGlobalUnicast()) {
			t.Errorf("%s is public", a)
		}
		if got != egress.Forbidden && (plain.IsLinkLocalUnicast() || plain.IsMulticast() || plain.IsUnspecified()) {
			t.Errorf("%s is not forbidden", a)
		}
		if !plain.Is4() {
			return
		}
		four := plain.As4()
		wrapped := netip.MustParseAddr("64:ff9b::").As16()
		copy(wrapped[12:], four[:])
		if egress.Classify(netip.AddrFrom16(plain.As16())) != got || egress.Classify(netip.AddrFrom16(wrapped)) != got {
			t.Errorf("%s is another class in another form", a)
		}
	})
}
