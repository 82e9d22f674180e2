package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"armature/cmd/armature/platform"
	"armature/cmd/armature/remote"
	"armature/cmd/armature/terminal"
	"armature/core/method"
	"armature/core/tenant"
)

func (g *group) runCommand() *cobra.Command {
	var user, verb, input string
	cmd := &cobra.Command{
		Use:   "run METHOD [JSON]",
		Short: "Call a method once and print what it returns",
		Long:  "Call a method once and print what it returns, with the same meter and limits as on a server.\nThe arguments are a JSON object: typed, or read from --input FILE (- is standard input). With --url the server elsewhere\nis asked, as the user of the API key.",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := arguments(args[1:], input)
			if err != nil {
				return err
			}
			given, err := method.ArgsJSON(text)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			h, err := g.remote.Site(g.Stderr, g.Version)
			if err != nil {
				return err
			}
			if h != nil {
				if cmd.Flags().Changed("user") {
					return terminal.Misuse("--user is for sites of this machine: with --url the API key says who acts")
				}
				return g.runHosted(ctx, h, verb, args[0], text)
			}
			return platform.With(ctx, g.Installation, func(p *platform.Platform, t *tenant.Tenant) error {
				caller, err := t.Auth.Caller(ctx, user)
				if err != nil {
					return fmt.Errorf("user %s: %w", user, err)
				}
				res, err := t.Methods().Run(ctx, method.Invocation{Path: args[0], Verb: verb, Caller: caller, Args: given})
				g.sayCost(p, args[0])
				if err != nil {
					return err
				}
				for _, m := range res.Messages {
					fmt.Fprintln(g.Stderr, m.Text)
				}
				if res.Message == nil {
					res.Message = json.RawMessage("null")
				}
				return g.PrintJSON(res.Message)
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "Administrator", "user to act as")
	cmd.Flags().StringVar(&verb, "verb", http.MethodPost, "HTTP verb to call with; GET leaves nothing behind")
	cmd.Flags().StringVar(&input, "input", "", "file with the arguments")
	return cmd
}

// runHosted calls a method of a hosted site.
func (g *group) runHosted(ctx context.Context, h *remote.Site, verb, path string, args []byte) error {
	message, err := h.Call(ctx, verb, path, args)
	if err != nil {
		var refused *remote.Refusal
		if errors.As(err, &refused) && refused.Trace != "" {
			fmt.Fprintln(g.Stderr, refused.Trace)
		}
		return err
	}
	if message == nil {
		message = json.RawMessage("null")
	}
	return g.PrintJSON(message)
}

// arguments is the text of the arguments, wherever they are given.
func arguments(typed []string, file string) ([]byte, error) {
	switch {
	case len(typed) > 0 && file != "":
		return nil, terminal.Misuse("give the arguments either as JSON or with --input")
	case len(typed) > 0:
		return []byte(typed[0]), nil
	case file == "-":
		return io.ReadAll(os.Stdin)
	case file != "":
		return os.ReadFile(file)
	}
	return []byte("{}"), nil
}

// sayCost prints what the call has cost, as the meter has it.
func (g *group) sayCost(p *platform.Platform, path string) {
	families, err := p.Guests.Metrics.Registry.Gather()
	if err != nil {
		return
	}
	cost := map[string]float64{}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			for _, label := range s.GetLabel() {
				if label.GetName() == "method" && label.GetValue() == path {
					cost[f.GetName()] = s.GetCounter().GetValue() + s.GetGauge().GetValue() + s.GetHistogram().GetSampleSum()
				}
			}
		}
	}
	name := func(s string) string { return "armature_plugin_" + s }
	if len(cost) > 0 {
		fmt.Fprintf(g.Stderr, "%.0f instructions, %.3f ms, %.0f KiB of memory, %.0f host calls\n", cost[name("fuel")],
			cost[name("wall_seconds")]*1000, cost[name("memory_peak_bytes")]/1024, cost[name("host_calls_total")])
	}
}
