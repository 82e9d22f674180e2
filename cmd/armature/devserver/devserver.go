// Package devserver is a server in this process for somebody who writes plugins: on data
// that is thrown away, or on a folder that is named.
package devserver

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/settings"
	"armature/cmd/armature/terminal"
	"armature/core/accesslog"
	"armature/core/auth"
	"armature/core/document"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/serve"
	"armature/core/site"
	"armature/core/tenant"
)

// Config is what a Server needs beside its data.
type Config struct {
	Listen string
	Lent   bool // Listen was not asked for: another address of this machine will do
	Log    *slog.Logger
	Access *accesslog.Log // nil: requests are not written down
	// Keys makes what Auth is; nil: the Administrator's API key, where nobody has one
	// that would stop working.
	Keys func(ctx context.Context, t *tenant.Tenant) (string, error)
}

// Server is a server with an API key for whoever it was started for.
type Server struct {
	Platform *platform.Platform
	URL      string
	Auth     string // value of the header; empty: nobody was given a new key

	stop   context.CancelFunc
	done   chan struct{}
	served error
}

// Open makes the site that is meant, if it is missing, and serves it until Close. No
// site of it falls asleep, and pages load themselves again when a file changes.
func Open(ctx context.Context, in *installation.Installation, c Config) (s *Server, err error) {
	if c.Keys == nil {
		c.Keys = newKeys
	}
	s = &Server{done: make(chan struct{})}
	if s.Platform, err = platform.Open(ctx, in, c.Log, platform.Options{Idle: -1, Live: true}); err != nil {
		return nil, err
	}
	server, err := listen(c)
	if err != nil {
		s.Platform.Close()
		return nil, err
	}
	if err = s.Platform.Start(ctx); err == nil {
		var t *tenant.Tenant
		if t, err = in.OpenTenant(ctx, s.Platform.Set); err == nil {
			s.Auth, err = c.Keys(ctx, t)
		}
	}
	if err != nil {
		_ = server.Close()
		s.Platform.Close()
		return nil, err
	}
	s.URL = server.URL()
	handler := httpapi.New(httpapi.Config{Sites: s.Platform.Set, Logger: c.Log, Access: c.Access})
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(s.done)
		s.served = server.Serve(ctx, handler)
	}()
	return s, nil
}

// Ended is closed when the server has ended by itself; Err says why.
func (s *Server) Ended() <-chan struct{} { return s.done }

// Err is why the server has ended.
func (s *Server) Err() error { return s.served }

// Close ends the server, and what it was on.
func (s *Server) Close() {
	s.stop()
	<-s.done
	s.Platform.Close()
}

// DataGiven reports whether somebody has said where the data is.
func DataGiven(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("data")
	_, inEnv := os.LookupEnv(settings.Variable("data"))
	return f.Changed || inEnv || f.Value.String() != f.DefValue
}

// Separate takes away what a server of its own would share with another one: the
// shell may have been set up for a site that people use, and a plugin that is
// being written is given what it asks for. Settings that come from one place with
// the data folder belong together and stay. An empty Data is data of its own.
func Separate(in *installation.Installation, typed func(flag string) bool) error {
	if in.Data != "" && !typed("data") {
		return nil
	}
	for _, s := range []struct {
		flag  string
		value *string
		none  string
	}{{"database", &in.Database, ""}, {"redis", &in.Redis, ""}, {"site", &in.Site, site.Default}} {
		switch {
		case !typed(s.flag):
			*s.value = s.none
		case in.Data == "":
			return terminal.Misuse("--%s needs --data: without it the server has data of its own, which is thrown away at the end", s.flag)
		}
	}
	return nil
}

// listen listens where it was asked to, or without being asked on any address of this
// machine.
func listen(c Config) (*serve.Server, error) {
	config := serve.Config{Listen: c.Listen, DrainTimeout: time.Second, Logger: c.Log}
	s, err := serve.Listen(config)
	if c.Lent && errors.Is(err, syscall.EADDRINUSE) {
		config.Listen = "127.0.0.1:0"
		return serve.Listen(config)
	}
	return s, err
}

// newKeys gives the Administrator an API key, where nobody has one that would
// stop working.
func newKeys(ctx context.Context, t *tenant.Tenant) (string, error) {
	var keys auth.Keys
	err := t.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		user, err := t.Documents.As(identity.Root(), tx).Get(ctx, "User", "Administrator")
		if err != nil || user.Text("api_key") != "" {
			return err
		}
		keys, err = t.Auth.GenerateKeys(ctx, tx, identity.Root(), "Administrator")
		return err
	})
	if err != nil || keys.Key == "" {
		return "", err
	}
	return "token " + keys.Key + ":" + keys.Secret, nil
}
