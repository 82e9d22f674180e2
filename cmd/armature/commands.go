package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"armature/cmd/armature/terminal"
)

// strict makes wrong use an error of its own: a word that names no command of a group,
// and what keeps a command from beginning, such as a flag that there is not.
func strict(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		strict(c)
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return terminal.AsMisuse(err) })
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown(cmd, args[0])
		}
		return
	}
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, given []string) error { return terminal.AsMisuse(args(cmd, given)) }
	}
}

// unknown says that a group has no such command, and which were meant.
func unknown(group *cobra.Command, word string) error {
	group.SuggestionsMinimumDistance = 2 // letters that may be wrong
	text := fmt.Sprintf("there is no command %q; %s --help lists them", group.CommandPath()+" "+word, group.CommandPath())
	if meant := group.SuggestionsFor(word); len(meant) > 0 {
		text += "\nhint: did you mean " + group.CommandPath() + " " + strings.Join(meant, " or ") + "?"
	}
	return terminal.Misuse("%s", text)
}
