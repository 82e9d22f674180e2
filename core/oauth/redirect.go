package oauth

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// maxURI is the longest redirect URI, in bytes.
const maxURI = 2000

// badRedirect says why no client may have a redirect URI; empty when one may. It
// has to be absolute and without a fragment (RFC 6749 section 3.1.2), and must not
// make a browser run something.
func badRedirect(uri string) string {
	if len(uri) > maxURI {
		return "it is too long"
	}
	for _, c := range []byte(uri) {
		if c <= ' ' || c >= 0x7f {
			return "it has characters that have to be percent-encoded"
		}
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme == "" || u.Opaque != "":
		return "it is not absolute"
	case strings.Contains(uri, "#"):
		return "it has a fragment"
	case slices.Contains([]string{"javascript", "data", "vbscript", "file", "blob", "about", "view-source"}, strings.ToLower(u.Scheme)):
		return "browsers do not go there"
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() == "":
		return "it has no host"
	}
	return ""
}

// loopback reports whether a host is the machine the browser runs on.
func loopback(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && text == u.Scheme+"://"+u.Host
}

// pair is a parameter of an answer.
type pair struct{ name, value string }

// withParameters appends parameters to a redirect URI, which stays as it is: its
// own query is neither sorted nor encoded again.
func withParameters(uri string, parameters []pair) string {
	var b strings.Builder
	b.WriteString(uri)
	separator := byte('?')
	if strings.Contains(uri, "?") {
		separator = '&'
	}
	for _, p := range parameters {
		if !strings.HasSuffix(uri, "?") || b.Len() > len(uri) {
			b.WriteByte(separator)
		}
		separator = '&'
		b.WriteString(url.QueryEscape(p.name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.value))
	}
	return b.String()
}

// sendTo redirects the browser. The answer to a POST becomes a GET.
func sendTo(w http.ResponseWriter, r *http.Request, uri string) error {
	h := w.Header()
	h.Set("Location", uri)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	status := http.StatusFound
	if r.Method == http.MethodPost {
		status = http.StatusSeeOther
	}
	w.WriteHeader(status)
	return nil
}
