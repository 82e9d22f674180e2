package serve

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"armature/cmd/armature/settings"
	"armature/core/serve"
)

// reloadable are the flags whose change takes effect on a reload.
var reloadable = []string{"log-level", "access-log", "slow-query-ms"}

// onHangup calls fn at every SIGHUP until the function it returns is called,
// which waits for an fn that runs.
func onHangup(fn func()) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range signals {
			fn()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// reload reads the settings and the certificate again. Settings that cannot be
// read change nothing.
func (g *group) reload(cmd *cobra.Command, server *serve.Server, out *journal) {
	log := out.main
	if err := server.Reload(); err != nil {
		log.Error("reload: the old certificate stays", "error", err)
	}
	flags, err := g.again()
	var fresh logging
	if err == nil {
		fresh, err = loggingOf(flags)
	}
	if err == nil {
		err = out.set(fresh)
	}
	if err != nil {
		log.Error("reload: the old settings stay", "error", err)
		return
	}
	var waiting []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if settings.Settable(f.Name) && !slices.Contains(reloadable, f.Name) && flags.Lookup(f.Name).Value.String() != f.Value.String() {
			waiting = append(waiting, f.Name)
		}
	})
	if len(waiting) > 0 {
		log.Warn("reload: changed settings take effect when the server is started again", "settings", waiting)
	}
	log.Info("reloaded")
}

// again reads everything as at the start: the command line, the environment, the
// file.
func (g *group) again() (*pflag.FlagSet, error) {
	cmd, args, err := g.newRoot().Find(g.args)
	if err != nil {
		return nil, err
	}
	if err := cmd.ParseFlags(args); err != nil {
		return nil, err
	}
	return cmd.Flags(), settings.Apply(cmd)
}
