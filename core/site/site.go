// Package site is one tenant: its name, the hosts it answers, its
// configuration, its clock and its secrets. It opens nothing; core/tenant does.
//
// Everything that a request touches hangs off its Site. The configuration is an
// immutable value behind one atomic pointer: a request that began with one
// version may finish with it.
package site

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// Default is the name of the site that a fresh installation has.
const Default = "default"

// Site is one tenant. It may be used by many goroutines.
type Site struct {
	Name   string
	Secret *Secret

	clock  func() time.Time
	config atomic.Pointer[Config]
}

// Options is what a Site is made of.
type Options struct {
	Name   string
	Config *Config // nil: an empty one
	Secret *Secret
	Clock  func() time.Time // nil: the system's clock
}

// New makes a site. It fails on a name that CheckName refuses.
func New(o Options) (*Site, error) {
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	s := &Site{Name: o.Name, Secret: o.Secret, clock: o.Clock}
	if s.clock == nil {
		s.clock = time.Now
	}
	if o.Config == nil {
		o.Config = &Config{}
	}
	s.config.Store(o.Config)
	return s, nil
}

// Config is the current configuration.
func (s *Site) Config() *Config { return s.config.Load() }

// SetConfig replaces the configuration for everything that asks from now on.
func (s *Site) SetConfig(c *Config) { s.config.Store(c) }

// Now is the site's wall clock, in the site's time zone.
func (s *Site) Now() time.Time { return s.clock().In(s.Location()) }

// Location is the site's time zone; UTC when the configuration names none.
func (s *Site) Location() *time.Location { return s.Config().Location() }

// canonicalHost drops the port, the brackets of an address and the final dot,
// and lowers the letters: the form in which the edge asks for a host.
func canonicalHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// siteName is what may be a folder and, behind a prefix, a PostgreSQL schema.
var siteName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,46}[a-z0-9])?$`)

// CheckName refuses a name that cannot be a folder name on every system.
func CheckName(name string) error {
	if !siteName.MatchString(name) || strings.Contains(name, "..") {
		return fmt.Errorf("site name %q: use 1 to 48 of a-z, 0-9, '.', '_' and '-', with a letter or digit at both ends", name)
	}
	return nil
}
