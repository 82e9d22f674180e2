// Package address is where a site is, and what it is called, as its configuration says
// at the moment, and the requests that are sent to it.
package address

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"armature/core/proxy"
	"armature/core/site"
)

// Of is the site of a configuration.
type Of func() *site.Config

// Name is what the site is called on its pages: its setting app_name.
func (config Of) Name() string {
	var name string
	if value, ok := config().Get("app_name"); ok && json.Unmarshal(value, &name) == nil && name != "" {
		return name
	}
	return "Armature"
}

// URL is where the site is, as it is configured; empty: it is not.
func (config Of) URL() string { return config().URL() }

// For is where the site is, for links that leave it: what the configuration
// says, and of several hosts the one that was asked; empty where it says nothing.
func (config Of) For(host string) string { return config().URLFor(host) }

// Base is the origin of the site: its setting host_name, or else the one the
// request was sent to.
func (config Of) Base(r *http.Request) string {
	if now := config(); now.Named() {
		return now.URL()
	}
	scheme := "http"
	if proxy.Secure(r) {
		scheme = "https"
	}
	return scheme + "://" + strings.ToLower(r.Host)
}

// Ours reports whether an address is on a host of the site's: listed, the one its
// pages are at, or the one a request was sent to. On this device, where everything
// has the same host, the port counts as well.
func (config Of) Ours(r *http.Request, address string) bool {
	a, err := url.Parse(address)
	if err != nil {
		return true
	}
	now := config()
	for _, own := range []string{now.URL(), config.Base(r), "http://" + r.Host} {
		u, err := url.Parse(own)
		if err == nil && sameName(u.Hostname(), a.Hostname()) && (!onDevice(a.Hostname()) || u.Port() == a.Port()) {
			return true
		}
	}
	return slices.ContainsFunc(now.Hosts(), func(host string) bool { return sameName(host, a.Hostname()) && !onDevice(host) })
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

func onDevice(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback() || strings.EqualFold(host, "localhost")
}
