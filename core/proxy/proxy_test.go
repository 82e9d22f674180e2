package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"armature/core/proxy"
)

func TestRequest(t *testing.T) {
	trusted, err := proxy.Parse("10.0.0.0/8, 192.0.2.1 2001:db8::/32", proxy.AllHeaders)
	if err != nil {
		t.Fatal(err)
	}
	type headers = [][2]string
	tests := []struct {
		name, peer   string
		headers      headers
		client, host string
		secure       bool
		site         string
	}{
		{"nothing", "10.0.0.1:5", nil, "10.0.0.1:5", "site.example", false, ""},
		{"a stranger", "198.51.100.1:5", headers{{"X-Forwarded-For", "10.0.0.1"}, {"X-Forwarded-Proto", "https"}, {"X-Forwarded-Host", "evil.example"},
			{"X-Framework-Site-Name", "other"}, {"Forwarded", "for=1.1.1.1"}, {"X-Real-Ip", "1.1.1.1"}}, "198.51.100.1:5", "site.example", false, ""},
		{"a proxy", "10.0.0.1:5", headers{{"X-Forwarded-For", "198.51.100.1"}, {"X-Forwarded-Proto", "https"}, {"X-Forwarded-Host", "shop.example:8443"},
			{"X-Framework-Site-Name", "shop"}}, "198.51.100.1:0", "shop.example:8443", true, "shop"},
		{"what the client made up", "10.0.0.1:5", headers{{"X-Forwarded-For", "127.0.0.1, 10.0.0.9, 198.51.100.1"}}, "198.51.100.1:0", "site.example", false, ""},
		{"two proxies", "192.0.2.1:5", headers{{"X-Forwarded-For", "9.9.9.9, 198.51.100.1, 10.2.3.4"}}, "198.51.100.1:0", "site.example", false, ""},
		{"two lines", "192.0.2.1:5", headers{{"X-Forwarded-For", "9.9.9.9"}, {"X-Forwarded-For", "198.51.100.1,10.2.3.4"}}, "198.51.100.1:0", "site.example", false, ""},
		{"proxies only", "192.0.2.1:5", headers{{"X-Forwarded-For", "10.9.9.9, 10.2.3.4"}}, "10.9.9.9:0", "site.example", false, ""},
		{"rubbish", "10.0.0.1:5", headers{{"X-Forwarded-For", "198.51.100.1, unknown"}}, "10.0.0.1:0", "site.example", false, ""},
		{"rubbish further left", "10.0.0.1:5", headers{{"X-Forwarded-For", "<script>, 198.51.100.1"}}, "198.51.100.1:0", "site.example", false, ""},
		{"ports", "10.0.0.1:5", headers{{"X-Forwarded-For", "198.51.100.1:4444"}}, "198.51.100.1:0", "site.example", false, ""},
		{"IPv6", "[2001:db8::1]:5", headers{{"X-Forwarded-For", "[2001:470::5]:77"}}, "[2001:470::5]:0", "site.example", false, ""},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:5", headers{{"X-Forwarded-For", "::ffff:198.51.100.1"}}, "198.51.100.1:0", "site.example", false, ""},
		{"a zone is no way round", "[fe80::1%10.0.0.1]:5", headers{{"X-Forwarded-For", "1.1.1.1"}}, "[fe80::1%10.0.0.1]:5", "site.example", false, ""},
		{"no proto", "10.0.0.1:5", headers{{"X-Forwarded-Proto", "https, gopher"}}, "10.0.0.1:0", "site.example", false, ""},
		{"the nearest proto", "10.0.0.1:5", headers{{"X-Forwarded-Proto", "http, HTTPS"}}, "10.0.0.1:0", "site.example", true, ""},
		{"no host", "10.0.0.1:5", headers{{"X-Forwarded-Host", "evil.example/path"}}, "10.0.0.1:0", "site.example", false, ""},
		{"two sites", "10.0.0.1:5", headers{{"X-Framework-Site-Name", "a"}, {"X-Framework-Site-Name", "b"}}, "10.0.0.1:0", "site.example", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "http://site.example/", nil)
			r.RemoteAddr = tt.peer
			for _, h := range tt.headers {
				r.Header.Add(h[0], h[1])
			}
			before := len(r.Header)
			got := trusted.Request(r)
			if got.RemoteAddr != tt.client || got.Host != tt.host || proxy.Secure(got) != tt.secure || got.Header.Get(proxy.SiteHeader) != tt.site {
				t.Errorf("from %s to %s, secure %v, site %q", got.RemoteAddr, got.Host, proxy.Secure(got), got.Header.Get(proxy.SiteHeader))
			}
			if got.Header.Get("X-Forwarded-For")+got.Header.Get("X-Forwarded-Host")+got.Header.Get("Forwarded")+got.Header.Get("X-Real-Ip") != "" {
				t.Errorf("left over: %v", got.Header)
			}
			if len(r.Header) != before || r.RemoteAddr != tt.peer {
				t.Error("the request itself was changed")
			}
		})
	}
}

func TestParse(t *testing.T) {
	for _, list := range []string{"x", "10.0.0.0/33", "10.0.0.1,y", "10.0.0.0/8;::1"} {
		if _, err := proxy.Parse(list, ""); err == nil {
			t.Errorf("%q was taken", list)
		}
	}
}

// TestHeaders: what a proxy is not known to set is the client's, and counts for
// nothing.
func TestHeaders(t *testing.T) {
	ask := func(headers string) *http.Request {
		trusted, err := proxy.Parse("10.0.0.0/8", headers)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "http://site.example/", nil)
		r.RemoteAddr = "10.0.0.1:9"
		for name, value := range map[string]string{"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example", "X-Framework-Site-Name": "other"} {
			r.Header.Set(name, value)
		}
		return trusted.Request(r)
	}
	tests := []struct {
		headers, client, host string
		secure                bool
		site                  string
	}{
		{proxy.DefaultHeaders, "198.51.100.1:0", "site.example", true, ""},
		{"x-forwarded-for", "198.51.100.1:0", "site.example", false, ""},
		{"X-Forwarded-Host", "10.0.0.1:0", "evil.example", false, ""},
		{"X-Framework-Site-Name X-Forwarded-For", "198.51.100.1:0", "site.example", false, "other"},
		{"", "10.0.0.1:0", "site.example", false, ""},
	}
	for _, tt := range tests {
		r := ask(tt.headers)
		if r.RemoteAddr != tt.client || r.Host != tt.host || proxy.Secure(r) != tt.secure || r.Header.Get(proxy.SiteHeader) != tt.site {
			t.Errorf("%q: from %s to %s, secure %v, site %q", tt.headers, r.RemoteAddr, r.Host, proxy.Secure(r), r.Header.Get(proxy.SiteHeader))
		}
	}
	for _, headers := range []string{"Forwarded", "X-Real-Ip", "X-Forwarded-For;X-Forwarded-Proto"} {
		if _, err := proxy.Parse("10.0.0.0/8", headers); err == nil {
			t.Errorf("%q was taken", headers)
		}
	}
}

// FuzzClient: whatever a client writes, it is not taken for another than the
// proxy has seen.
func FuzzClient(f *testing.F) {
	f.Add("127.0.0.1")
	f.Add("10.0.0.9, ,")
	f.Add("::1%eth0\"")
	trusted, err := proxy.Parse("10.0.0.0/8", proxy.DefaultHeaders)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, made string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "10.0.0.1:9"
		r.Header["X-Forwarded-For"] = []string{made, "198.51.100.7"} // a proxy adds the address at the end
		if got := trusted.Request(r).RemoteAddr; got != "198.51.100.7:0" {
			t.Errorf("%q makes %s", made, got)
		}
		r.Header["X-Forwarded-For"] = []string{made}
		if got := trusted.Request(r).RemoteAddr; got != "10.0.0.1:0" {
			if _, err := netip.ParseAddrPort(got); err != nil {
				t.Errorf("%q makes %s", made, got)
			}
		}
	})
}
