package plugin

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// untilHangup has a command end with its terminal, too, so that no compiler is left
// running and nothing in the temporary folder when the window is closed; but not
// under nohup.
func untilHangup(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !signal.Ignored(syscall.SIGHUP) {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
			defer stop()
			cmd.SetContext(ctx)
		}
		return run(cmd, args)
	}
	return cmd
}
