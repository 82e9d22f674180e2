package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"armature/cmd/armature/platform"
	"armature/core/tenant"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/installed"
	"armature/plugins/replay"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// errDiffers is a replay that ended otherwise than the call it repeats.
var errDiffers = errors.New("the call ended otherwise than when it was recorded")

// errMasked is the same of a record in which stars stand in place of secrets.
var errMasked = errors.New("the call ended otherwise than when it was recorded: stars stand in place of the secrets it had, and it computes with one")

func (g *group) replayCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Run a recorded call again",
		Long:  "Run a failed call again that a server has kept (site setting record_failed_calls), with its inputs\nand with what the host answered it. Nothing is read from or written to the site. The plugin\nis the one of --plugin, or the installed one of the same hash.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := replay.Read(args[0])
			if err != nil {
				return err
			}
			b, err := g.recorded(cmd.Context(), c, from)
			if err != nil {
				return err
			}
			outcome, err := g.replay(cmd.Context(), c, b)
			if err != nil {
				return err
			}
			same := outcome.Same(c.Outcome)
			if err := g.Say(map[string]any{"same": same, "recorded": c.Outcome, "now": outcome}, "%s", describeOutcome(c, outcome)); err != nil {
				return err
			}
			if !same && c.Masked {
				return errMasked
			}
			if !same {
				return errDiffers
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "plugin", "", "bundle to run, such as one with a mended method")
	return cmd
}

// recorded finds the bundle that a call was made with.
func (g *group) recorded(ctx context.Context, c *replay.Call, from string) (*bundle.Bundle, error) {
	if from != "" {
		return bundle.Read(from)
	}
	dirs := []string{g.Layout().Plugins()}
	if folder, err := g.SiteFolder(ctx, c.Site); err == nil {
		dirs = append(dirs, filepath.Join(folder, "plugins"))
	}
	for _, dir := range dirs {
		for _, e := range bundle.List(dir) {
			if e.Err == nil && e.Bundle.Hash == c.Hash {
				return e.Bundle, nil
			}
		}
	}
	var b *bundle.Bundle
	g.Site = c.Site
	err := g.WithTenant(ctx, func(t *tenant.Tenant) (err error) {
		b, err = installed.Bundle(ctx, dispatch.Services{Documents: t.Documents, Store: t.Store}, c.Plugin, c.Hash)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s %s is not installed any more: name its bundle with --plugin: %w", c.Plugin, c.Version, err)
	}
	return b, nil
}

func (g *group) replay(ctx context.Context, c *replay.Call, b *bundle.Bundle) (replay.Outcome, error) {
	cfg := platform.EngineConfig(hostapi.Config{})
	cfg.CacheDir, cfg.Logger, cfg.Birth = g.Layout().Cache(), slog.New(slog.DiscardHandler), c.Birth
	e, err := engine.New(ctx, cfg)
	if err != nil {
		return replay.Outcome{}, err
	}
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	m, err := e.Load(ctx, b.Module)
	if err != nil {
		return replay.Outcome{}, err
	}
	defer m.Release()
	return c.Again(ctx, m), nil
}

func describeOutcome(c *replay.Call, now replay.Outcome) string {
	line := func(o replay.Outcome) string {
		if o.Kind == 0 {
			return fmt.Sprintf("returned %s (%d instructions)", o.Output, o.Fuel)
		}
		return fmt.Sprintf("failed with %s: %s (%d instructions)", o.Type, o.Message, o.Fuel)
	}
	return fmt.Sprintf("%s as %s\nrecorded: %s\nnow:      %s", c.Method, c.User, line(c.Outcome), line(now))
}
