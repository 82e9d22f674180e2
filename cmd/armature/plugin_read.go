package main

import (
	"github.com/spf13/cobra"

	"armature/plugins/sandbox"
)

// readCommand is the command by which a server starts itself to read a script.
const readCommand = "read"

func (a *app) pluginReadCommand() *cobra.Command {
	return &cobra.Command{
		Use:    readCommand + " FILE",
		Short:  "Write a script as the file it is installed as, within limits",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		// No settings: what runs here may read none.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, args []string) error {
			return sandbox.Child(args[0], a.stdout)
		},
	}
}
