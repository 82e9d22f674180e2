package site

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"

	"golang.org/x/net/publicsuffix"
)

// LiveReload reports whether pages of the frontend load themselves again when a file of
// it was saved.
func (c *Config) LiveReload() bool { return c.liveReload }

// AppsHost is the host name below which plugins' pages have their own; empty: there is none.
func (c *Config) AppsHost() string { return c.appsHost }

// hostForApps is what a host name may be that others are made of: not an address.
var hostForApps = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func readAppsHost(c *Config, value json.RawMessage) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return fmt.Errorf("must be a host name such as \"apps.example.org\"")
	}
	host := canonicalHost(text)
	if _, err := netip.ParseAddr(host); err == nil || !hostForApps.MatchString(host) || len(host) > 180 {
		return fmt.Errorf("%q is not a host name such as apps.example.org", text)
	}
	c.appsHost = host
	return nil
}

// readPasskeyDomain takes what browsers take for the id of a relying party: a domain that
// somebody has, and no suffix under which everybody gets one.
func readPasskeyDomain(_ *Config, value json.RawMessage) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return fmt.Errorf("must be a domain such as \"example.org\"")
	}
	if _, err := netip.ParseAddr(text); err == nil || text != canonicalHost(text) || !hostForApps.MatchString(text) || len(text) > 253 {
		return fmt.Errorf("%q is not a domain such as example.org, in small letters", text)
	}
	if suffix, _ := publicsuffix.PublicSuffix(text); suffix == text && text != "localhost" {
		return fmt.Errorf("%s is a domain that browsers bind nothing to: others have names below it", text)
	}
	return nil
}

func readLiveReload(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.liveReload); err != nil {
		return fmt.Errorf("must be true or false")
	}
	return nil
}
