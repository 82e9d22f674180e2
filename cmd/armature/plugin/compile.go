package plugin

import (
	"github.com/spf13/cobra"

	"armature/cmd/armature/platform"
	"armature/runtime/compile"
)

func (g *group) compileCommand() *cobra.Command {
	return &cobra.Command{
		Use:    platform.CompileCommand + " LIMITS... FOLDER",
		Short:  "Compile a module for the server that started this, within limits",
		Hidden: true,
		// No settings: what runs here may read none.
		PersistentPreRunE:  func(*cobra.Command, []string) error { return nil },
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return compile.Child(cmd.Context(), args, cmd.InOrStdin(), g.Stdout)
		},
	}
}
