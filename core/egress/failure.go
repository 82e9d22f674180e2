package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"armature/core/fault"
)

// failure turns what went wrong into a fault that speaks only of the host the
// caller asked for. The rest, addresses above all, is for the log.
func failure(ctx context.Context, host string, err error) error {
	var (
		known       *fault.Error
		certificate *tls.CertificateVerificationError
		name        *net.DNSError
		network     net.Error
		dial        *net.OpError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errAddress):
		return fault.Wrap(fault.Permission, "", err, "%s is at an address that may not be reached: one on a private network is named in the site's allowed_private_hosts, others never are", host)
	case errors.Is(ctx.Err(), context.Canceled):
		return fault.Wrap(fault.Unavailable, "", err, "The request to %s was cancelled", host)
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return fault.Wrap(fault.Timeout, "", err, "%s did not answer in time", host)
	case errors.As(err, &certificate):
		return fault.Wrap(fault.Unavailable, "", err, "The certificate of %s is not valid", host)
	case errors.As(err, &name), errors.As(err, &dial) && dial.Op == "dial":
		return fault.Wrap(fault.Unavailable, "", err, "%s cannot be reached", host)
	}
	return fault.Wrap(fault.Unavailable, "", err, "%s gave no valid answer", host)
}
