package sites

import (
	"context"
	"errors"
	"io/fs"
	"net/http"

	"armature/core/fault"
	"armature/core/httpapi"
	"armature/core/migration"
	"armature/core/proxy"
	"armature/core/sites/registry"
)

// Acquire finds the site that answers the host and opens it if it sleeps; it
// satisfies httpapi.Sites.
func (s *Set) Acquire(ctx context.Context, host string, r *http.Request) (*httpapi.Tenant, func(), error) {
	name := r.Header.Get(proxy.SiteHeader)
	e, t, err := s.answers(ctx, host, name)
	if errors.Is(err, errAnother) {
		s.list.lookBriefly(ctx)
		e, t, err = s.answers(ctx, host, name)
	}
	if err != nil {
		return nil, nil, notOpened(host, err)
	}
	if !t.active() {
		e.catchUp(ctx, t)
	}
	t.used.note()
	return t.Edge(), t.releaser, nil
}

// errAnother says that a site in the table is not there any more.
var errAnother = errors.New("the table of sites is older than the sites")

// answers returns the site that answers a host, held.
func (s *Set) answers(ctx context.Context, host, name string) (*entry, *tenancy, error) {
	now := s.list.now()
	if now.unknown {
		return nil, nil, fault.New(fault.Unavailable, "", "The list of sites cannot be read now; try again later")
	}
	e := now.find(host, name)
	if e == nil {
		return nil, nil, registry.Missing(host)
	}
	if t := e.serving.Load(); t != nil && t.pins.Take() {
		return e, t, nil
	}
	t, err := s.opener.wake(ctx, e)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(errAnother, err)
	}
	return e, t, err
}

// notOpened is what a client is told of a site that could not be opened.
func notOpened(host string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, errClosed):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fault.Missing("No site answers %s", host)
	case errors.Is(err, migration.ErrNewer), errors.Is(err, errLost), fault.From(err).Type == fault.InsufficientStorage:
		return fault.From(err) // trying again does not help; what does, the message says
	case errors.Is(err, context.DeadlineExceeded), fault.KindOf(err) == fault.Unavailable, fault.KindOf(err) == fault.Timeout:
		return fault.Wrap(fault.Unavailable, "", err, "The site cannot be opened now; try again later")
	}
	return fault.Wrap(fault.Internal, "", err, "The site cannot be opened")
}
