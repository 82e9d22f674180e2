// Package resetmail mails links by which a user sets another password, and by which
// somebody becomes a user, codes by which a user logs in, and links by which a user gets another address.
package resetmail

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/mail"
	"armature/core/web"
)

const (
	// maxWaiting is how many resets wait for the mail server at most.
	maxWaiting = 100
	// sendTime is how long one may take: looking the user up, handing the letter in.
	sendTime = time.Minute
)

// Config is what a Service needs.
type Config struct {
	Auth   *auth.Service
	Server func() (*mail.Server, error) // the site's mail server; nil: none is configured
	Roots  *x509.CertPool               // who may vouch for it; nil: the system's
	// Outgoing is asked before anything is sent; its error is why nothing is.
	Outgoing func() error
	// Origin is where the site is, for links that leave it, of a request to host;
	// empty: the configuration does not say. Whoever made the request has chosen its
	// host, port and scheme, so none of them is copied.
	Origin func(host string) string
	Logger *slog.Logger
}

// Service takes wishes for a reset, and answers them one after the other while Run
// runs.
type Service struct {
	c     Config
	asked chan wish
}

// New makes the service of a site.
func New(c Config) *Service { return &Service{c: c, asked: make(chan wish, maxWaiting)} }

// wish is a letter that somebody asked for. Whether there is such a user is looked up
// after the answer, by write, so neither the answer nor its time tells.
type wish struct {
	site  string // origin of the links
	write func(ctx context.Context, site string) (*mail.Letter, error)
}

// Ask takes the wish for a reset. Errors: those of auth.Service.AskReset;
// Unavailable when too many wait.
func (s *Service) Ask(ctx context.Context, r *http.Request, typed string) error {
	from := web.Remote(r.RemoteAddr, r.Header)
	if err := s.c.Auth.AskReset(ctx, typed, from); err != nil {
		return err
	}
	return s.put(wish{s.c.Origin(r.Host), func(ctx context.Context, site string) (*mail.Letter, error) {
		reset, err := s.c.Auth.StartReset(ctx, typed, from)
		if err != nil || reset == nil {
			return nil, err
		}
		return letter(reset, site), nil
	}})
}

// AskSignUp takes somebody's wish to become a user. Errors: those of
// auth.Service.AskSignUp; Unavailable when too many wait.
func (s *Service) AskSignUp(ctx context.Context, r *http.Request, typed string) error {
	if err := s.c.Auth.AskSignUp(ctx, typed, web.Remote(r.RemoteAddr, r.Header)); err != nil {
		return err
	}
	return s.put(wish{s.c.Origin(r.Host), func(ctx context.Context, site string) (*mail.Letter, error) {
		up, err := s.c.Auth.StartSignUp(ctx, typed)
		if err != nil {
			return nil, err
		}
		return signUpLetter(up, site), nil
	}})
}

// AskCode takes somebody's wish for a code to log in with; token is a secret of their
// browser. Errors: those of auth.Service.AskLoginCode; Unavailable when too many wait.
func (s *Service) AskCode(ctx context.Context, r *http.Request, w auth.CodeWish) (token string, err error) {
	from := web.Remote(r.RemoteAddr, r.Header)
	if token, err = s.c.Auth.AskLoginCode(ctx, w, from); err != nil {
		return "", err
	}
	return token, s.put(wish{s.c.Origin(r.Host), func(ctx context.Context, site string) (*mail.Letter, error) {
		code, err := s.c.Auth.StartLoginCode(ctx, token, from)
		if err != nil || code == nil {
			return nil, err
		}
		return codeLetter(code, site), nil
	}})
}

// AskAddress takes the wish of whoever is logged in for another address: both get a
// letter. Errors: those of auth.Service.AskAddress; Unavailable when too many wait.
func (s *Service) AskAddress(ctx context.Context, r *http.Request, b *auth.Browser, typed string) error {
	from := web.Remote(r.RemoteAddr, r.Header)
	email, err := s.c.Auth.AskAddress(ctx, b, typed, from)
	if err != nil {
		return err
	}
	origin := s.c.Origin(r.Host)
	return s.put(wish{origin, func(ctx context.Context, site string) (*mail.Letter, error) {
		change, err := s.c.Auth.StartAddress(ctx, b.Caller.User, email, from)
		if err != nil || change == nil {
			return nil, err
		}
		if err := s.put(wish{origin, func(context.Context, string) (*mail.Letter, error) { return newAddressLetter(change, site), nil }}); err != nil {
			return nil, err
		}
		return oldAddressLetter(change, site), nil
	}})
}

// MayInvite is why an invitation would not be sent. Errors: Validation.
func (s *Service) MayInvite() error {
	server, err := s.c.Server()
	switch {
	case err != nil:
		return err
	case server == nil:
		return fault.Invalid("", "The site's configuration has no mail server: armature site mail sets it")
	case s.c.Origin("") == "":
		return fault.Invalid("", "The site's configuration has neither host_name nor hosts, and the letter could not say where the site is")
	}
	return s.c.Outgoing()
}

// Invite sends an invitation that is committed. Where too many letters wait it is not
// sent, and logged.
func (s *Service) Invite(up *auth.SignUp) {
	err := s.put(wish{s.c.Origin(""), func(_ context.Context, site string) (*mail.Letter, error) { return signUpLetter(up, site), nil }})
	if err != nil {
		s.c.Logger.Warn("an invitation was not sent", "error", err)
	}
}

func (s *Service) put(w wish) error {
	select {
	case s.asked <- w:
		return nil
	default:
		return fault.New(fault.Unavailable, "", "Too many mails are waiting; try again in a minute")
	}
}

// Run answers wishes, one at a time, until ctx ends; what waits then is dropped, and
// may be asked for again.
func (s *Service) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-s.asked:
			s.answer(ctx, w)
		}
	}
}

func (s *Service) answer(ctx context.Context, w wish) {
	ctx, stop := context.WithTimeout(ctx, sendTime)
	defer stop()
	if err := s.send(ctx, w); err != nil && ctx.Err() == nil {
		s.c.Logger.Warn("a letter with a link was asked for and not sent", "error", err)
	}
}

// send makes the key and mails the link. Where no mail can be sent no key is made.
func (s *Service) send(ctx context.Context, w wish) error {
	server, err := s.c.Server()
	if err == nil {
		err = s.c.Outgoing()
	}
	switch {
	case err != nil:
		return err
	case server == nil:
		return errors.New("the site's configuration has no mail server; armature user reset prints a link")
	case w.site == "":
		return errors.New("the site's configuration has neither host_name nor hosts, and a link may not lead where the request says")
	}
	l, err := w.write(ctx, w.site)
	if err != nil || l == nil {
		return err
	}
	return (&mail.Sender{Server: *server, Roots: s.c.Roots}).Send(ctx, *l)
}
