package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

// Bounds on how long one connection may hold on to the server. Reading and
// writing leave time for an upload or a download over a slow line.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 5 * time.Minute
	writeTimeout      = 10 * time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
	maxStreams        = 100 // requests at a time of one connection that speaks HTTP/2
)

// Config is what a Server needs.
type Config struct {
	// Listen is the address of the server, Redirect that of a listener for plain
	// HTTP which sends everybody to the server; empty: there is none.
	Listen, Redirect string

	// CertFile and KeyFile are PEM files; ACME gets certificates from an ACME
	// server instead. With neither the server speaks plain HTTP.
	CertFile, KeyFile string
	ACME              *ACME

	// HSTS is how long browsers are told to use TLS only (RFC 6797); 0: nothing is
	// said.
	HSTS time.Duration

	// DrainDelay is how long the server goes on as before when it is told to end,
	// but says that it is not ready. DrainTimeout is how long requests may then
	// take to end.
	DrainDelay, DrainTimeout time.Duration

	// MaxConns is how many connections there may be; 0: as many as the system has. Who
	// comes then waits. From half of it on, those that do nothing are closed.
	MaxConns int

	// Connect makes the context of a new connection from the server's own; nil: it is
	// that one.
	Connect func(ctx context.Context) context.Context

	// Draining is called when requests are to end, once the delay is over: it ends the
	// connections that were taken from the server. nil: there are none.
	Draining func()

	Logger *slog.Logger // nil: nothing is logged
}

// Server listens. It is made by Listen, serves once, and is closed by the end of
// Serve or by Close.
type Server struct {
	c        Config
	listener net.Listener
	redirect net.Listener // nil: none
	tls      *tls.Config  // nil: plain HTTP
	files    *files       // nil: no certificate files
	refuse   func(http.Handler) http.Handler

	draining atomic.Bool
}

// Listen reads the certificates and opens the listeners, so that a port that is
// taken or a key that does not fit is found before anything else is done.
func Listen(c Config) (*Server, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{c: c, refuse: func(next http.Handler) http.Handler { return next }}
	if err := s.secure(); err != nil {
		return nil, err
	}
	var err error
	if s.listener, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, err
	}
	if c.Redirect != "" {
		if s.redirect, err = net.Listen("tcp", c.Redirect); err != nil {
			return nil, errors.Join(err, s.listener.Close())
		}
	}
	return s, nil
}

// secure sets up TLS if the configuration asks for it.
func (s *Server) secure() error {
	switch c := s.c; {
	case (c.CertFile == "") != (c.KeyFile == ""):
		return errors.New("a certificate needs its key, and a key its certificate")
	case c.CertFile != "" && c.ACME != nil:
		return errors.New("certificates come from files or from an ACME server, not from both")
	case c.CertFile != "":
		var err error
		if s.files, err = openFiles(c.CertFile, c.KeyFile, c.Logger); err != nil {
			return err
		}
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.files.get, NextProtos: []string{"h2", "http/1.1"}}
	case c.ACME != nil:
		m := c.ACME.manager()
		s.tls = m.TLSConfig()
		s.tls.MinVersion = tls.VersionTLS12
		s.tls.GetCertificate = c.ACME.get(m, c.Logger)
		s.refuse = m.HTTPHandler // answers challenges before it redirects
	case c.Redirect != "":
		return errors.New("there is nothing to redirect to: the server has no certificate")
	case c.HSTS != 0:
		return errors.New("browsers can be told to use TLS only by a server that speaks it")
	}
	return nil
}

// Addr is the address that the server listens on, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is the address that the server listens on.
func (s *Server) URL() string {
	scheme := "http://"
	if s.tls != nil {
		scheme = "https://"
	}
	return scheme + s.listener.Addr().String()
}

// RedirectAddr is the address of the listener for plain HTTP, or "".
func (s *Server) RedirectAddr() string {
	if s.redirect == nil {
		return ""
	}
	return s.redirect.Addr().String()
}

// Draining reports whether the server has been told to end.
func (s *Server) Draining() bool { return s.draining.Load() }

// Reload reads the certificate files again. Connections stay as they are; new
// ones get the new certificate. Files that do not fit leave the old one in use.
func (s *Server) Reload() error {
	if s.files == nil {
		return nil
	}
	return s.files.reload()
}

// Close lets go of the listeners of a server that does not come to serve.
func (s *Server) Close() error {
	err := s.listener.Close()
	if s.redirect != nil {
		err = errors.Join(err, s.redirect.Close())
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Serve answers requests until ctx ends, and then drains. Requests do not end
// with ctx. The error is that of a listener, or says that some requests did not
// end in time and were cut.
func (s *Server) Serve(ctx context.Context, handler http.Handler) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	main := s.server(base, s.lastly(handler))
	listener := s.listener
	if s.c.MaxConns > 0 {
		listener = netutil.LimitListener(listener, s.c.MaxConns)
		main.ConnState = newCrowd(s.c.MaxConns, main.SetKeepAlivesEnabled).changed
	}
	servers := []*http.Server{main}
	failed := make(chan error, 2)
	go func() {
		if s.tls == nil {
			failed <- main.Serve(listener)
			return
		}
		main.TLSConfig = s.tls
		failed <- main.ServeTLS(listener, "", "")
	}()
	if s.redirect != nil {
		plain := s.server(base, s.refuse(toTLS(s.listener.Addr())))
		servers = append(servers, plain)
		go func() { failed <- plain.Serve(s.redirect) }()
	}
	select {
	case err := <-failed:
		cut()
		return errors.Join(err, closeAll(servers))
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.c.Logger.Info("shutting down", "delay", s.c.DrainDelay, "timeout", s.c.DrainTimeout)
	time.Sleep(s.c.DrainDelay)
	if s.c.Draining != nil {
		s.c.Draining()
	}
	return s.drain(servers, cut)
}

func (s *Server) server(base context.Context, handler http.Handler) *http.Server {
	// A proxy that ends TLS may speak HTTP/2 as well, without it (RFC 9113, section 3.3).
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Protocols:         &protocols,
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       s.connect,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          slog.NewLogLogger(quiet{s.c.Logger.Handler()}, slog.LevelWarn),
	}
}

func (s *Server) connect(ctx context.Context, _ net.Conn) context.Context {
	if s.c.Connect == nil {
		return ctx
	}
	return s.c.Connect(ctx)
}

// lastGrace is how long a request that was told to end may take to say so.
const lastGrace = 2 * time.Second

// drain ends the servers. Requests that are not done in time have their context
// cancelled, which ends what they wait for and gives them a moment to answer;
// then their connections are closed.
func (s *Server) drain(servers []*http.Server, cut context.CancelFunc) error {
	timer := time.AfterFunc(s.c.DrainTimeout, cut)
	defer timer.Stop()
	end, cancel := context.WithTimeout(context.Background(), s.c.DrainTimeout+lastGrace)
	defer cancel()
	var failures []error
	for _, server := range slices.Backward(servers) { // who is redirected has to find the server
		failures = append(failures, server.Shutdown(end))
	}
	if err := errors.Join(failures...); err != nil {
		return errors.Join(fmt.Errorf("some requests did not end in time: %w", err), closeAll(servers))
	}
	return nil
}

func closeAll(servers []*http.Server) error {
	var failures []error
	for _, server := range servers {
		failures = append(failures, server.Close())
	}
	return errors.Join(failures...)
}

// lastly adds what every answer of the server carries.
func (s *Server) lastly(next http.Handler) http.Handler {
	hsts := ""
	if s.tls != nil && s.c.HSTS > 0 {
		hsts = fmt.Sprintf("max-age=%d", int64(s.c.HSTS/time.Second))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hsts != "" {
			w.Header().Set("Strict-Transport-Security", hsts)
		}
		if s.draining.Load() {
			// A proxy that keeps the connection would send its next request into
			// one that is about to be closed.
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
