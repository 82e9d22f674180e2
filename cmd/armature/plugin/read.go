package plugin

import (
	"github.com/spf13/cobra"

	"armature/cmd/armature/platform"
	"armature/plugins/sandbox"
)

func (g *group) readCommand() *cobra.Command {
	return &cobra.Command{
		Use:    platform.ReadCommand + " FILE",
		Short:  "Write a script as the file it is installed as, within limits",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		// No settings: what runs here may read none.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, args []string) error {
			return sandbox.Child(args[0], g.Stdout)
		},
	}
}
