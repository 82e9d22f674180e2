package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"armature/core/httpapi"
	"armature/core/site"
)

// Bounds on how long one connection may hold on to the server. Reading and
// writing leave time for an upload or a download over a slow line.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 5 * time.Minute
	writeTimeout      = 10 * time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// serving is the settings of serve.
type serving struct {
	listen   string
	plugins  string
	shutdown time.Duration
	log      logging
	slow     int // milliseconds

	metricsToken string
}

func (a *app) serveCommand() *cobra.Command {
	var s serving
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long:  "Run the server. The first start makes the data folder, the default site and its\nAdministrator, whose password is printed once (or taken from ARMATURE_ADMIN_PASSWORD).",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context(), s)
		},
	}
	cmd.Flags().StringVar(&s.listen, "listen", "127.0.0.1:8000", "address to listen on; port 0 takes a free one")
	cmd.Flags().StringVar(&s.plugins, "plugins", "", "folder of the plugins for all sites; without it <data>/plugins")
	cmd.Flags().DurationVar(&s.shutdown, "shutdown-timeout", 30*time.Second, "how long requests may take to end when the server stops")
	cmd.Flags().StringVar(&s.metricsToken, "metrics-token", "", "bearer token for /metrics; without it they are for this machine only")
	cmd.Flags().IntVar(&s.slow, "slow-query-ms", 500, "log SQL statements that take so many milliseconds, without their values; 0: none")
	s.log.flags(cmd.Flags())
	return cmd
}

// serve runs until ctx ends and everything is closed.
func (a *app) serve(ctx context.Context, s serving) error {
	log, err := s.log.logger(a.stderr)
	if err != nil {
		return err
	}
	// Listening comes first: a port that is taken should not cost a migration.
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	p, err := a.openPlatform(ctx, log, guestOptions{
		shared: s.plugins, metricsToken: s.metricsToken,
		slow: func() time.Duration { return time.Duration(s.slow) * time.Millisecond },
	})
	if err != nil {
		return err
	}
	defer p.close()
	if err := a.openSites(ctx, p, log); err != nil {
		return err
	}
	if err := p.start(ctx); err != nil {
		return err
	}
	var draining atomic.Bool
	server := &http.Server{
		Handler: p.guests.metrics.Beside(httpapi.New(httpapi.Config{
			Sites: p.set, Logger: log, Access: s.log.accessTo(log),
			Ready: func(ctx context.Context) error {
				if draining.Load() {
					return errors.New("the server is shutting down")
				}
				return p.ready(ctx)
			},
		})),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if err := a.say(map[string]any{"address": listener.Addr().String()}, "armature serves http://%s", listener.Addr()); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	draining.Store(true)
	log.Info("shutting down", "timeout", s.shutdown)
	// Requests go on with a context of their own, so ending is theirs to do.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdown)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return errors.Join(fmt.Errorf("some requests did not end in time: %w", err), server.Close())
	}
	return nil
}

// openSites opens every site, after making the default one where there is none.
// A site that fails does not keep the others from being served, except when its
// key shows that the whole installation was started wrongly.
func (a *app) openSites(ctx context.Context, p *platform, log *slog.Logger) error {
	names, err := a.layout().List()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		_, err := p.set.Create(ctx, site.Default)
		return err
	}
	var failures []error
	for _, name := range names {
		if _, err := p.set.Open(ctx, name); err != nil {
			if errors.Is(err, site.ErrWrongMaster) {
				return err
			}
			log.Error("a site cannot be served", "site", name, "error", err)
			failures = append(failures, err)
		}
	}
	if len(failures) == len(names) {
		return errors.Join(failures...)
	}
	return nil
}
