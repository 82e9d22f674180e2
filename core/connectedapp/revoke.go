package connectedapp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
)

// revoke asks the provider to end what a connection holds (RFC 7009, section
// 2.1). Ending the refresh token ends what came of it.
func (s *Service) revoke(ctx context.Context, a *app, c *connection) error {
	p, err := s.provider(ctx, a)
	if err != nil {
		return err
	}
	if p.revocation == "" {
		return errors.New("it has no revocation endpoint")
	}
	if err := s.way.Check(p.revocation); err != nil {
		return err
	}
	client := s.way.Client(false)
	form := url.Values{"token": {c.access}, "token_type_hint": {"access_token"}}
	if c.refresh != "" {
		form = url.Values{"token": {c.refresh}, "token_type_hint": {"refresh_token"}}
	}
	if p.style == oauth2.AuthStyleInParams {
		form.Set("client_id", a.clientID)
		form.Set("client_secret", a.clientSecret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.revocation, bytes.NewBufferString(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if p.style != oauth2.AuthStyleInParams {
		// RFC 6749, section 2.3.1: both parts are encoded as in a form.
		r.SetBasicAuth(url.QueryEscape(a.clientID), url.QueryEscape(a.clientSecret))
	}
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s", res.Status)
	}
	return nil
}
