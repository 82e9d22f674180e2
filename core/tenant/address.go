package tenant

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"armature/core/proxy"
)

// displayName is what the site is called on its pages: its setting app_name.
func (t *Tenant) displayName() string {
	var name string
	if value, ok := t.Site.Config().Get("app_name"); ok && json.Unmarshal(value, &name) == nil && name != "" {
		return name
	}
	return "Armature"
}

// address is where the site is, as it is configured; empty: it is not.
func (t *Tenant) address() string { return t.Site.Config().URL() }

// addressFor is where the site is, for links that leave it: what the configuration
// says, and of several hosts the one that was asked; empty where it says nothing.
func (t *Tenant) addressFor(host string) string { return t.Site.Config().URLFor(host) }

// base is the origin of the site: its setting host_name, or else the one the
// request was sent to.
func (t *Tenant) base(r *http.Request) string {
	if config := t.Site.Config(); config.Named() {
		return config.URL()
	}
	scheme := "http"
	if proxy.Secure(r) {
		scheme = "https"
	}
	return scheme + "://" + strings.ToLower(r.Host)
}

// ours reports whether an address is on a host of the site's: listed, the one its
// pages are at, or the one a request was sent to. On this device, where everything
// has the same host, the port counts as well.
func (t *Tenant) ours(r *http.Request, address string) bool {
	a, err := url.Parse(address)
	if err != nil {
		return true
	}
	config := t.Site.Config()
	for _, own := range []string{config.URL(), t.base(r), "http://" + r.Host} {
		u, err := url.Parse(own)
		if err == nil && sameName(u.Hostname(), a.Hostname()) && (!onDevice(a.Hostname()) || u.Port() == a.Port()) {
			return true
		}
	}
	return slices.ContainsFunc(config.Hosts(), func(host string) bool { return sameName(host, a.Hostname()) && !onDevice(host) })
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

func onDevice(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback() || strings.EqualFold(host, "localhost")
}
