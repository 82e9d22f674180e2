package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"armature/core/identity"
	"armature/core/method"
	"armature/core/sites"
)

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Plugins: build, look at, install, call",
		Long:  "Plugins: build, look at, install, call.\n\nA plugin is a .wasm file with its manifest inside, or a directory with armature.json and\na .wasm file. Installing one stores it in the database of a site; putting one into\n<data>/plugins has it serve all sites. A running server takes either over at once.\n\nWith --url the commands that manage plugins work on a site of a server elsewhere.",
	}
	a.hostedFlags(cmd)
	cmd.AddCommand(
		untilHangup(a.pluginDevCommand()), untilHangup(a.pluginBuildCommand()), untilHangup(a.pluginTestCommand()), untilHangup(a.pluginExecCommand()), untilHangup(a.pluginConformanceCommand()),
		a.pluginNewCommand(), a.pluginKeygenCommand(), a.pluginSignCommand(), a.pluginInspectCommand(), a.pluginInstallCommand(), a.pluginListCommand(), a.pluginLogsCommand(),
		a.pluginRunCommand(), a.pluginReplayCommand(), a.pluginReadCommand(),
	)
	cmd.AddCommand(a.pluginManageCommands()...)
	return cmd
}

// fileName is the name under which a bundle is installed: a directory becomes
// one file.
func fileName(path string) string {
	return strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".wasm") + ".wasm"
}

// withPlugins opens the site that is meant with its plugins, beside a server
// that may be running on the same data.
func (a *app) withPlugins(ctx context.Context, fn func(*platform, *sites.Tenant) error) error {
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	o := guestOptions{observer: true, idle: -1}
	if err := a.trusting(&o); err != nil {
		return err
	}
	p, err := a.openPlatform(ctx, log, o)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.start(ctx); err != nil {
		return err
	}
	t, err := a.openTenant(ctx, p.set)
	if err != nil {
		return err
	}
	return fn(p, t)
}

// managePlugins calls one of framework.plugins.* on the site that is meant, as
// somebody does over HTTP, and reads the answer into result. An argument that is
// bytes is a bundle.
func (a *app) managePlugins(ctx context.Context, name string, args map[string]any, result any) error {
	h, err := a.hosted()
	if err != nil {
		return err
	}
	if h != nil {
		return h.manage(ctx, name, args, result)
	}
	return a.withPlugins(ctx, func(_ *platform, t *sites.Tenant) error {
		return runManaging(ctx, t, name, args, result)
	})
}

// runManaging calls one of framework.plugins.* on an open site.
func runManaging(ctx context.Context, t *sites.Tenant, name string, args map[string]any, result any) error {
	res, err := t.Methods().Run(ctx, method.Invocation{
		Path: "framework.plugins." + name, Verb: http.MethodPost, Caller: identity.Root(), Args: method.ArgsMap(args),
	})
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(res.Message, result); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
