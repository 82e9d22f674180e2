// Package serve is the command that serves: listen, open, serve, drain, close.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/settings"
	"armature/core/account"
	"armature/core/httpapi"
	"armature/core/metrics"
	"armature/core/proxy"
	"armature/core/serve"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/registry"
	"armature/core/store"
)

// serving is the settings of serve.
type serving struct {
	listen   string
	redirect string
	plugins  string
	log      logging

	cert, key     string
	acme          bool
	acmeDirectory string
	acmeEmail     string
	hsts          time.Duration
	proxies       string
	proxyHeaders  string

	memory   string
	idle     time.Duration
	conns    int
	replicas replicaURLs
	backup   backupFlags
	drain    time.Duration
	shutdown time.Duration

	metricsToken string

	traces       string
	traceHeaders string
	traceRatio   float64
}

// heapGrowth is how much garbage, in per cent of what lives, may gather before
// it is collected, unless GOGC says otherwise. Little lives here, 5 to 10 MB, so
// twice the usual costs some 6 MB under load and saves 3 % of its processor time.
const heapGrowth = 200

// group is the command that serves.
type group struct {
	*installation.Installation
	serving serving

	newRoot func() *cobra.Command // the program's commands, to read the settings again with
	args    []string              // of the program
}

// Command makes the command. On SIGHUP the program's arguments are read again,
// by the commands that newRoot makes.
func Command(in *installation.Installation, newRoot func() *cobra.Command, args []string) *cobra.Command {
	a := &group{Installation: in, newRoot: newRoot, args: args}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server. The first start makes the data folder, the default site and its\n" +
			"Administrator, whose password is printed once (or taken from ARMATURE_ADMIN_PASSWORD).\n\n" +
			"SIGTERM or SIGINT ends it: /readyz fails, --drain-delay passes, requests end within\n" +
			"--shutdown-timeout, everything is closed. A second one ends it at once.\n" +
			"SIGHUP reads the settings again: certificate files, --log-level, --access-log and\n" +
			"--slow-query-ms take effect at once; others are named in the log and need a restart.",
		Example: "  armature serve --listen :443 --redirect-listen :80 --acme --acme-email ops@example.org\n" +
			"  armature serve --database postgres://armature@db/armature --redis redis://cache\n" +
			"  armature serve --config /etc/armature/armature.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd) },
	}
	s, flags := &a.serving, cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8000", "address to listen on; port 0 takes a free one")
	flags.StringVar(&s.cert, "tls-cert", "", "PEM file with the certificate and its chain; used again when it changes")
	flags.StringVar(&s.key, "tls-key", "", "PEM file with the certificate's key")
	flags.BoolVar(&s.acme, "acme", false, "get certificates for the hosts of the sites by ACME; you agree to the\nterms of the ACME server")
	flags.StringVar(&s.acmeDirectory, "acme-directory", "", "URL of the ACME server's directory; without it Let's Encrypt")
	flags.StringVar(&s.acmeEmail, "acme-email", "", "where the ACME server may write to")
	flags.StringVar(&s.redirect, "redirect-listen", "", "second address, for plain HTTP, that redirects to the first")
	flags.DurationVar(&s.hsts, "hsts", 0, "tell browsers to use TLS only for so long, 8760h for a year; 0: do not")
	flags.StringVar(&s.proxies, "trusted-proxies", "", "addresses and networks, such as 10.0.0.0/8, of the proxies that\nmay say whom they speak for")
	flags.StringVar(&s.proxyHeaders, "trusted-headers", proxy.DefaultHeaders, "what counts of that: the headers that the proxies always set, and never\npass on from outside; also X-Forwarded-Host and X-Framework-Site-Name")
	flags.StringVar(&s.plugins, "plugins", "", "folder of the plugins for all sites; without it <data>/plugins")
	flags.StringVar(&s.memory, "memory", "", "memory that the server may take, such as 1GiB; without it the limit of its\ncontainer, or three quarters of the machine's")
	flags.DurationVar(&s.idle, "site-idle", sites.DefaultIdle, "close a site that has had no request for so long, until its next one;\nbelow 0: never")
	flags.IntVar(&s.conns, "database-connections", 40, "connections to PostgreSQL that all sites of this server may have open\ntogether, at least 4; the jobs take up to 8 more")
	flags.Var(&s.replicas, "database-replica", "URL of a PostgreSQL server that follows the one of --database; documents and lists\nare read from it while it is up to date; several: again, or with spaces between")
	s.backup.flags(flags)
	flags.DurationVar(&s.drain, "drain-delay", 0, "how long to go on serving, not ready, when the server stops: until\nload balancers have noticed")
	flags.DurationVar(&s.shutdown, "shutdown-timeout", 30*time.Second, "how long requests may then take to end; 7 seconds later the process is gone whatever runs")
	flags.StringVar(&s.metricsToken, "metrics-token", "", "bearer token for /metrics; without it they are for this machine only")
	flags.StringVar(&s.traces, "trace-endpoint", "", "URL of an OpenTelemetry collector that takes traces over HTTP,\nhttp://127.0.0.1:4318; without it nothing is traced")
	flags.StringVar(&s.traceHeaders, "trace-headers", "", "headers for the collector, name=value, separated by commas")
	flags.Float64Var(&s.traceRatio, "trace-ratio", 1, "share of requests that are traced, 0 to 1; those that come with a\ntrace follow it")
	s.log.flags(flags)
	return cmd
}

// serve runs until the command's context ends and everything is closed.
func (g *group) serve(cmd *cobra.Command) error {
	ctx, s := cmd.Context(), g.serving
	out, err := openJournal(s.log, g.Stderr)
	if err != nil {
		return err
	}
	defer out.access.Close()
	log := out.main
	proxies, err := proxy.Parse(s.proxies, s.proxyHeaders)
	if err != nil {
		return fmt.Errorf("--trusted-proxies, --trusted-headers: %w", err)
	}
	for _, name := range settings.Misspelt(settings.Names(cmd.Root()), os.Environ()) {
		log.Warn("the environment has a variable that is no setting", "name", name)
	}
	tracer, endTraces, err := openTracer(s, g.Version, log)
	if err != nil {
		return err
	}
	defer endTraces()
	if err := s.replicas.check(g.Database); err != nil {
		return err
	}
	backups, err := s.backup.schedule()
	if err != nil {
		return err
	}
	memory, err := openAccount(s.memory)
	if err != nil {
		return err
	}
	o := platform.Options{Account: memory, Shared: s.plugins, MetricsToken: s.metricsToken, Slow: out.slow, Idle: s.idle, Conns: s.conns, Replicas: s.replicas, Backups: backups}
	if err := o.Trust(g.Installation); err != nil {
		return err
	}
	// Listening comes first: a port that is taken should neither cost a migration nor
	// leave folders behind.
	var p *platform.Platform
	listening := g.listening(func(host string) bool { return p.Set.Named(host) }, memory, log)
	listening.Draining = func() { p.Drain() }
	o.Streams = listening.MaxConns / 2 // the others are for requests
	server, err := serve.Listen(listening)
	if err != nil {
		return err
	}
	defer server.Close()
	if p, err = platform.Open(ctx, g.Installation, log, o); err != nil {
		return err
	}
	defer p.Close()
	if err := p.Start(ctx); err != nil {
		return err
	}
	if err := g.openSites(ctx, p, log); err != nil {
		return err
	}
	settle(log)
	defer onHangup(func() { g.reload(cmd, server, out) })()
	metrics.ShowAccount(p.Guests.Metrics.Registry, memory.Stats)
	handler := httpapi.New(httpapi.Config{
		Sites: p.Set, Account: memory, Proxies: proxies, Logger: log, Access: out.access, Meter: metrics.NewHTTP(p.Guests.Metrics.Registry), Tracer: tracer, Label: store.HasComments(g.Database),
		Ready: readyUntilDrained(p, server),
	})
	if err := g.Say(map[string]any{"address": server.Addr(), "url": server.URL()}, "armature serves %s", server.URL()); err != nil {
		return err
	}
	return server.Serve(ctx, p.Guests.Metrics.Beside(handler))
}

// settle gives back what the start has needed and serving does not.
func settle(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	// Compiling plugins and opening a site leave more garbage than a server that
	// waits for requests will make in hours; the system gets it back.
	debug.FreeOSMemory()
	if err := forgetProgram(); err != nil {
		log.Debug("the pages of the program that only the start needed stay in memory", "error", err)
	}
}

// readyUntilDrained answers /readyz: a server that is shutting down is not ready.
func readyUntilDrained(p *platform.Platform, server *serve.Server) func(context.Context) error {
	ready := &readiness{check: p.Ready}
	return func(ctx context.Context) error {
		if server.Draining() {
			return errors.New("the server is shutting down")
		}
		return ready.now(ctx)
	}
}

// listening is how the server listens; named tells which hosts are of a site.
func (g *group) listening(named func(string) bool, memory *account.Account, log *slog.Logger) serve.Config {
	s := g.serving
	c := serve.Config{
		Listen: s.listen, Redirect: s.redirect, CertFile: s.cert, KeyFile: s.key, HSTS: s.hsts,
		DrainDelay: s.drain, DrainTimeout: s.shutdown, Logger: log,
		Connect: memory.Connect, MaxConns: maxConnections(memory),
	}
	if s.acme {
		c.ACME = &serve.ACME{Directory: s.acmeDirectory, Email: s.acmeEmail, Cache: g.Layout().Certificates(), Hosts: named}
	}
	return c
}

// openSites makes the default site where there is none, and otherwise opens one
// of those there are, to find out before serving what would keep all of them
// from being served: another key, a database that is away. The others are opened
// by their first requests.
func (g *group) openSites(ctx context.Context, p *platform.Platform, log *slog.Logger) error {
	list, err := p.Set.Sites(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		_, err := installation.OpenDefault(ctx, p.Set)
		return err
	}
	name := list[0].Name
	if slices.ContainsFunc(list, func(r *registry.Record) bool { return r.Name == site.Default }) {
		name = site.Default
	}
	_, err = p.Set.Open(ctx, name)
	if err != nil && len(list) > 1 && !errors.Is(err, site.ErrWrongMaster) {
		log.Error("a site cannot be served; the others may", "site", name, "error", err)
		return nil
	}
	return err
}
