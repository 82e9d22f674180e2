package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/spf13/cobra"

	"armature/core/method"
)

func (a *app) pluginRunCommand() *cobra.Command {
	var user, verb string
	cmd := &cobra.Command{
		Use:   "run METHOD [JSON]",
		Short: "Call a method once and print what it returns",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := "{}"
			if len(args) == 2 {
				text = args[1]
			}
			input, err := method.ArgsJSON([]byte(text))
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
			ctx := cmd.Context()
			p, err := a.openPlatform(ctx, log, "")
			if err != nil {
				return err
			}
			defer p.close()
			t, err := a.openTenant(ctx, p.set)
			if err != nil {
				return err
			}
			if err := p.start(ctx); err != nil {
				return err
			}
			caller, err := t.Auth.Caller(ctx, user)
			if err != nil {
				return fmt.Errorf("user %s: %w", user, err)
			}
			res, err := t.Methods().Run(ctx, method.Invocation{Path: args[0], Verb: verb, Caller: caller, Args: input})
			if err != nil {
				return err
			}
			for _, m := range res.Messages {
				fmt.Fprintln(a.stderr, m)
			}
			if res.Message == nil {
				res.Message = json.RawMessage("null")
			}
			return a.printJSON(res.Message)
		},
	}
	cmd.Flags().StringVar(&user, "user", "Administrator", "user to act as")
	cmd.Flags().StringVar(&verb, "verb", http.MethodPost, "HTTP verb to call with; GET leaves nothing behind")
	return cmd
}
