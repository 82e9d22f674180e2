package egress_test

import (
	"net/url"
	"strings"
	"testing"

	"armature/core/egress"
	"armature/core/fault"
)

func TestURLs(t *testing.T) {
	tests := []struct{ raw, want string }{
		{"http://example.com", "http://example.com"},
		{"HTTPS://Example.COM./a?b#c", "https://example.com/a?b"},
		{"http://example.com:80/", "http://example.com/"},
		{"https://example.com:443/", "https://example.com/"},
		{"https://example.com:/", "https://example.com/"},
		{"http://example.com:443/", "http://example.com:443/"},
		{"http://[::1]:8000/", "http://[::1]:8000/"},
		{"http://[2606:4700:0:0::1]/", "http://[2606:4700::1]/"},
		{"http://[::ffff:10.0.0.1]/", "http://10.0.0.1/"},
		{"http://_dmarc.example.com/", "http://_dmarc.example.com/"},
		{"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"},
		{"http://example.com/a b?c=d e&ü=\u007e", "http://example.com/a%20b?c=d%20e&%C3%BC=~"},
		{"http://example.com/?\"<>", "http://example.com/?\"<>"},

		{"", ""},
		{"example.com", ""},
		{"//example.com/", ""},
		{"ftp://example.com/", ""},
		{"file:///etc/passwd", ""},
		{"unix:///run/x.sock", ""},
		{"http:example.com", ""},
		{"http:///path", ""},
		{"http://:80/", ""},
		{"http://user@example.com/", ""},
		{"http://user:secret@example.com/", ""},
		{"http://@example.com/", ""},
		{"http://example.com\r\nX: y/", ""},
		{"http://example.com/\r\nX: y", ""},
		{"http://example.com/\x00", ""},
		{"http://example.com:0/", ""},
		{"http://example.com:65536/", ""},
		{"http://example.com:+80/", ""},
		{"http://exam ple.com/", ""},
		{"http://exa%6dple.com/", ""},
		{"http://example.com%2f@evil.test/", ""},
		{"http://evil.test\\@example.com/", ""},
		{"http://bücher.example/", ""},
		{"http://example..com/", ""},
		{"http://.example.com/", ""},
		{"http://-a.example.com/", ""},
		{"http://example.com../", ""},
		{"http://127.1/", ""},
		{"http://2130706433/", ""},
		{"http://0x7f000001/", ""},
		{"http://0x7f.0.0.0x1/", ""},
		{"http://0177.0.0.1/", ""},
		{"http://127.0.0.1./", ""},
		{"http://[fe80::1%25eth0]/", ""},
		{"http://[127.0.0.1]/", ""},
		{"http://[::1/", ""},
		{"http://::1/", ""},
		{"http://" + strings.Repeat("a", 64) + ".com/", ""},
		{"http://" + strings.Repeat("a.", 127) + "com/", ""},
		{"http://example.com/" + strings.Repeat("a", 9000), ""},
	}
	for _, tt := range tests {
		got, _, err := egress.Canonical(tt.raw)
		if got != tt.want || tt.want == "" && fault.KindOf(err) != fault.Validation {
			t.Errorf("%.60q became %q, %v; want %q", tt.raw, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
}

func TestHosts(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{
			"api.example.com",
			[]string{"http://api.example.com/", "https://API.example.com", "https://api.example.com./"},
			[]string{
				"https://api.example.com:8443/", "http://api.example.com:443/", "https://example.com/",
				"https://x.api.example.com/", "https://api.example.com.evil.test/", "https://evilapi.example.com/",
			},
		},
		{
			"*.example.com",
			[]string{"https://a.example.com/", "https://a.b.example.com/"},
			[]string{"https://example.com/", "https://evilexample.com/", "https://example.com.evil.test/", "https://a.example.com:81/"},
		},
		{
			"*.Example.com:8443",
			[]string{"https://a.example.com:8443/", "http://a.example.com:8443/"},
			[]string{"https://a.example.com/", "https://example.com:8443/"},
		},
		{"example.com:443", []string{"https://example.com/", "http://example.com:443/"}, []string{"http://example.com/"}},
		{"127.0.0.1:80", []string{"http://127.0.0.1/", "http://[::ffff:127.0.0.1]/"}, []string{"http://127.0.0.2/", "https://127.0.0.1/"}},
		{"[::1]:80", []string{"http://[0:0::1]/"}, []string{"http://[::2]/", "http://localhost/"}},
		{"localhost", []string{"http://localhost/"}, []string{"http://127.0.0.1/", "http://a.localhost/"}},
	}
	for _, tt := range tests {
		h, err := egress.ParseHosts("other.test", tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range tt.yes {
			if !h.Has(u) {
				t.Errorf("%s does not allow %s", tt.pattern, u)
			}
		}
		for _, u := range tt.no {
			if h.Has(u) {
				t.Errorf("%s allows %s", tt.pattern, u)
			}
		}
	}
	if (egress.Hosts{}).Has("http://example.com/") {
		t.Error("no patterns allow something")
	}
}

func TestBadPatterns(t *testing.T) {
	for _, p := range []string{
		"", "*", "*.", "*example.com", "a.*.com", "*.*.com", "https://example.com", "example.com/", "example.com:", "example.com:0",
		"example.com:http", "example.com:99999", "::1", "[::1", "[::1]x", "[::1]:", "[1.2.3.4]", "*.1.2.3.4", "*.[::1]", "127.1", "0x7f.1",
		"user@example.com", "exa mple.com", "*.example.com:*", "bücher.example",
	} {
		if _, err := egress.ParseHosts(p); fault.KindOf(err) != fault.Validation {
			t.Errorf("%q is taken as a pattern: %v", p, err)
		}
	}
}

// FuzzTarget makes sure that a URL has one reading only: what is matched against
// patterns is what the standard library would connect to and send.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{
		"https://a.example.com/x?y=z", "http://[::ffff:1.2.3.4]:8080/", "http://EXAMPLE.com.:80#f", "http://a@b/", "http://1.2.3.4/ ü?ü ",
		"http://a.example.com:/?", "http://example.com\\a", "http://x//..//?#",
		"http://a?" + strings.Repeat(" ", 4<<10), "http://a/" + strings.Repeat("\x94", 4<<10),
	} {
		f.Add(s)
	}
	below, err := egress.ParseHosts("*.example.com", "*.example.com:8080")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		clean, host, err := egress.Canonical(raw)
		if err != nil {
			return
		}
		again, _, err := egress.Canonical(clean)
		if err != nil || again != clean {
			t.Errorf("%.200q became %.200q, and that %.200q, %v", raw, clean, again, err)
		}
		u, err := url.Parse(clean)
		if err != nil || u.Hostname() != host {
			t.Errorf("%q: the host of %q is not %q", raw, clean, host)
		}
		for _, c := range []byte(u.RequestURI() + u.Host) {
			if c <= ' ' || c >= 0x7f {
				t.Errorf("%q would be sent as %q", raw, u.RequestURI())
			}
		}
		if strings.ToLower(host) != host || strings.ContainsAny(host, "/\\@?#%") {
			t.Errorf("%q has the host %q", raw, host)
		}
		if below.Has(raw) && !strings.HasSuffix(host, ".example.com") {
			t.Errorf("*.example.com allows %q", raw)
		}
	})
}
