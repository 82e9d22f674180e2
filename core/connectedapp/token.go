package connectedapp

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress/endpoint"
	"armature/core/fault"
)

const (
	// leaseLife is how long one process may take to renew a token before another
	// one tries: longer than a provider has for the two answers that it may take to
	// find out how clients prove who they are.
	leaseLife = 2*endpoint.Patience + 5*time.Second
	// lookAgain is how often who waits for another process's renewal looks.
	lookAgain = 100 * time.Millisecond
)

// errBroken is what becomes of asking for the token of a connection that has
// ended at the provider's side.
func errBroken(a *app) error {
	return fault.Invalid("ConnectionBrokenError", "The connection to %s has ended. Connect again.", a.providerName)
}

// token returns a usable access token of a connection, renewed where it is about
// to end. All who ask at once, in every process, cause one renewal.
//
// Errors: Validation with exc_type NotConnectedError without a connection and
// ConnectionBrokenError for one that has ended; Unavailable or Timeout when the
// provider does not answer and the token is of no use any more.
func (s *Service) token(ctx context.Context, a *app, user string) (*connection, error) {
	id := name(a.name, user)
	c, err := s.usable(ctx, a, user)
	if err != nil || c != nil {
		return c, err
	}
	// Who asked first may leave: the renewal goes on for the others, and for what
	// the provider gives, which must be kept.
	result := make(chan obtained, 1)
	s.renewals.Go(func() {
		c, err, _ := s.obtaining.Do(id, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*leaseLife)
			defer cancel()
			return s.renewed(ctx, a, user)
		})
		connection, _ := c.(*connection)
		result <- obtained{connection, err}
	})
	select {
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Timeout, "", ctx.Err(), "%s did not answer in time", a.providerName)
	case r := <-result:
		return r.connection, r.err
	}
}

type obtained struct {
	connection *connection
	err        error
}

// usable returns a connection whose token is good for a while; nil when it has to
// be renewed first.
func (s *Service) usable(ctx context.Context, a *app, user string) (*connection, error) {
	c, err := s.connection(ctx, name(a.name, user))
	switch {
	case fault.KindOf(err) == fault.NotFound && user == "":
		return nil, nil
	case fault.KindOf(err) == fault.NotFound:
		return nil, fault.Invalid("NotConnectedError", "There is no connection to %s yet", a.providerName)
	case err != nil:
		return nil, err
	case c.fresh(s.now(), margin(c.doc)):
		return c, nil
	case user == "":
		return nil, nil
	case c.doc.Text("status") == broken:
		return nil, errBroken(a)
	case c.access == "":
		return nil, fault.Invalid("NotConnectedError", "There is no connection to %s yet", a.providerName)
	case c.refresh == "" && c.fresh(s.now(), 0):
		return c, nil
	case c.refresh == "":
		return nil, errBroken(a)
	}
	return nil, nil
}

// renewed renews a token, or waits for the process that does.
func (s *Service) renewed(ctx context.Context, a *app, user string) (*connection, error) {
	// Before the lease, which is no time to read a discovery document in.
	p, unknown := s.provider(ctx, a)
	for {
		if c, err := s.usable(ctx, a, user); err != nil || c != nil {
			return c, err
		}
		lease, err := s.takeLease(ctx, a, user)
		if err != nil {
			return nil, err
		}
		if lease != nil {
			return s.renew(ctx, a, p, unknown, user, lease)
		}
		select {
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Timeout, "", ctx.Err(), "%s did not answer in time", a.providerName)
		case <-time.After(lookAgain):
		}
	}
}

// takeLease makes this process the one that renews, and returns the connection
// as it is; nil while another process does, or when one has done so since we
// looked.
func (s *Service) takeLease(ctx context.Context, a *app, user string) (c *connection, err error) {
	id := name(a.name, user)
	taken := false
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, stored, err := s.row(ctx, tx, a, user)
		if err != nil {
			return err
		}
		done := fresh(doc, s.now(), margin(doc)) || user != "" && doc.Text("refresh_token") == ""
		if taken = !done && !leased(doc, s.now()); !taken {
			return nil
		}
		doc.Put("lease", strconv.FormatInt(s.now().Add(leaseLife).Unix(), 10)+" "+rand.Text())
		return s.save(ctx, tx, doc, stored)
	})
	if fault.KindOf(err) == fault.Conflict {
		return nil, nil // two made the first row at once
	}
	if err != nil || !taken {
		return nil, err
	}
	return s.connection(ctx, id)
}

func leased(doc *doctype.Document, now time.Time) bool {
	until, _, _ := strings.Cut(doc.Text("lease"), " ")
	end, err := strconv.ParseInt(until, 10, 64)
	return err == nil && now.Unix() < end
}

// renew asks the provider for another token and keeps what it gives; unknown is
// why there is no provider to ask.
func (s *Service) renew(ctx context.Context, a *app, p *provider, unknown error, user string, old *connection) (*connection, error) {
	var fresh *oauth2.Token
	err := unknown
	if err == nil {
		fresh, err = s.ask(ctx, a, p, user, old)
	}
	if err != nil {
		return s.notRenewed(ctx, a, old, err)
	}
	err = s.keep(ctx, func(ctx context.Context, tx document.Tx) error {
		doc, stored, err := s.row(ctx, tx, a, user)
		if err != nil {
			return err
		}
		// Somebody who has connected anew since then has a better one.
		if stored && doc.Text("refresh_token") != old.doc.Text("refresh_token") {
			return nil
		}
		if !stored && user != "" {
			return nil // it was ended while we asked
		}
		if err := s.put(doc, a, fresh); err != nil {
			return err
		}
		return s.save(ctx, tx, doc, stored)
	})
	if err != nil {
		return nil, err
	}
	c, err := s.connection(ctx, old.doc.Name())
	if fault.KindOf(err) == fault.NotFound {
		return nil, fault.Invalid("NotConnectedError", "There is no connection to %s any more", a.providerName)
	}
	return c, err
}

// ask makes one request to the token endpoint: with the refresh token, or for
// the app itself (RFC 6749, sections 6 and 4.4).
func (s *Service) ask(ctx context.Context, a *app, p *provider, user string, old *connection) (*oauth2.Token, error) {
	config, err := a.config(p)
	if err != nil {
		return nil, err
	}
	client, err := s.tokenClient(p)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	if user == "" {
		own := clientcredentials.Config{
			ClientID: a.clientID, ClientSecret: a.clientSecret, TokenURL: p.token, Scopes: a.scopes, AuthStyle: p.style,
		}
		return own.Token(ctx)
	}
	return config.TokenSource(ctx, &oauth2.Token{RefreshToken: old.refresh}).Token()
}

// notRenewed gives the lease back. A provider that refuses the refresh token has
// ended the connection; anything else may pass, and the token stays.
func (s *Service) notRenewed(ctx context.Context, a *app, old *connection, cause error) (*connection, error) {
	var r *oauth2.RetrieveError
	ended := errors.As(cause, &r) && r.ErrorCode == "invalid_grant"
	err := s.keep(ctx, func(ctx context.Context, tx document.Tx) error {
		dt, err := s.docType(cacheName)
		if err != nil {
			return err
		}
		set := map[string]any{"lease": nil, "error": fault.From(refused(a, cause)).Message}
		if ended {
			set["status"], set["refresh_token"] = broken, nil
		}
		_, err = tx.UpdateIf(ctx, dt, old.doc.Name(), map[string]any{"lease": old.doc.Text("lease")}, set)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.log.Warn("a token could not be renewed", "connected_app", a.name, "provider", a.providerName, "ended", ended, "err", fault.From(refused(a, cause)).Message)
	switch {
	case old.fresh(s.now(), 0):
		return old, nil
	case ended:
		return nil, errBroken(a)
	}
	return nil, refused(a, cause)
}
