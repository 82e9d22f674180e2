package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACME is where certificates come from by RFC 8555. Using it is agreeing to the
// terms of service of the ACME server.
type ACME struct {
	// Directory is the URL of the ACME server; empty: Let's Encrypt.
	Directory string
	// Email is where the ACME server tells of trouble; empty: nowhere.
	Email string
	// Cache is the folder for the account, keys and certificates.
	Cache string
	// Hosts reports whether the server answers a host. Only for those are
	// certificates asked for: an ACME server grants so many a week, which
	// anybody who connects could use up by naming hosts.
	Hosts func(host string) bool
}

func (a *ACME) manager() *autocert.Manager {
	m := &autocert.Manager{
		Prompt: autocert.AcceptTOS,
		Cache:  certificates{autocert.DirCache(a.Cache)},
		Email:  a.Email,
		HostPolicy: func(_ context.Context, host string) error {
			if !a.answers(host) {
				return fmt.Errorf("no site answers %q by name", host)
			}
			return nil
		},
	}
	if a.Directory != "" {
		m.Client = &acme.Client{DirectoryURL: a.Directory}
	}
	return m
}

// answers is Hosts for a host as clients write it: the one of a challenge over
// HTTP may have a port.
func (a *ACME) answers(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return a.Hosts(strings.ToLower(strings.TrimSuffix(host, ".")))
}

// get is a tls.Config's GetCertificate that logs why there is none. What is no
// site's host is left alone: scanners name hosts all day.
func (a *ACME) get(m *autocert.Manager, log *slog.Logger) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c, err := m.GetCertificate(hello)
		if err != nil && a.answers(hello.ServerName) {
			log.Error("no certificate from the ACME server", "host", hello.ServerName, "error", err)
		}
		return c, err
	}
}
