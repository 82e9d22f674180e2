package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
func (a *app) reload(cmd *cobra.Command, server *serve.Server, out *journal) {
	log := out.main
	if err := server.Reload(); err != nil {
		log.Error("reload: the old certificate stays", "error", err)
	}
	fresh, flags, err := a.again()
	if err == nil {
		err = out.set(fresh.serving.log)
	}
	if err != nil {
		log.Error("reload: the old settings stay", "error", err)
		return
	}
	var waiting []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if settable(f.Name) && !slices.Contains(reloadable, f.Name) && flags.Lookup(f.Name).Value.String() != f.Value.String() {
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
func (a *app) again() (*app, *pflag.FlagSet, error) {
	fresh := &app{stdout: a.stdout, stderr: a.stderr, args: a.args}
	cmd, args, err := fresh.command().Find(a.args)
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.ParseFlags(args); err != nil {
		return nil, nil, err
	}
	return fresh, cmd.Flags(), fresh.settings(cmd)
}
