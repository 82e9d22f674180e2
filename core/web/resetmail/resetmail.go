// Package resetmail mails links by which a user sets another password.
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

// wish is a reset that somebody asked for. Whether there is such a user is looked
// up after the answer, so neither the answer nor its time tells.
type wish struct {
	typed string
	from  auth.Remote
	site  string // origin of the links
}

// Ask takes the wish for a reset. Errors: those of auth.Service.AskReset;
// Unavailable when too many wait.
func (s *Service) Ask(ctx context.Context, r *http.Request, typed string) error {
	from := web.Remote(r.RemoteAddr, r.Header)
	if err := s.c.Auth.AskReset(ctx, typed, from); err != nil {
		return err
	}
	select {
	case s.asked <- wish{typed, from, s.c.Origin(r.Host)}:
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
		s.c.Logger.Warn("a link to reset a password was asked for and not sent", "error", err)
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
	reset, err := s.c.Auth.StartReset(ctx, w.typed, w.from)
	if err != nil || reset == nil {
		return err
	}
	return (&mail.Sender{Server: *server, Roots: s.c.Roots}).Send(ctx, letter(reset, w.site))
}
