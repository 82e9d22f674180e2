package egress

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// errAddress is the refusal of an address. It does not name it: the text of a
// dial error does, for the log.
var errAddress = errors.New("address not allowed")

// setUp bounds what is still under way in the background when a call has been
// given up: looking up a name, connecting, greeting.
const setUp = 10 * time.Second

// newTransport makes connections to addresses of class least and above, and
// keeps some of them.
//
// HTTP/1.1 only: one connection carries one exchange, so closing it ends
// whatever a server sends, and no caller waits for another's stream.
func newTransport(cfg Config, least class) *http.Transport {
	dialer := &net.Dialer{
		Timeout:  setUp,
		Resolver: cfg.Resolver,
		Control: func(network, address string, _ syscall.RawConn) error {
			return checkAddress(network, address, least)
		},
	}
	var h1 http.Protocols
	h1.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil, // the environment decides nothing here
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		TLSHandshakeTimeout:    setUp,
		Protocols:              &h1,
		DisableCompression:     true, // see decoded
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// checkAddress runs between the lookup of a name and the connection: nothing can
// change the address any more.
func checkAddress(network, address string, least class) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || classify(ap.Addr()) < least {
		return errAddress
	}
	return nil
}
