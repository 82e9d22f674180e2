package pluginbuild

import (
	"strings"

	"github.com/spf13/cobra"

	"armature/plugins/toolchain/scaffold"
)

func (g *group) newCommand() *cobra.Command {
	var lang, dir, module string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a plugin: sources, SDK, manifest, test and README",
		Long:  "Begin a plugin, in a folder of its own: sources, SDK, manifest, test and README. It builds without\na network where the compiler is installed; for AssemblyScript and Zig that is npm's.\nWith --module the folder is for a module that another tool has built, one of Extism's kits for\ninstance: the module and a manifest, to be looked through.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if dir == "" {
				dir = name
			}
			if module != "" {
				return g.adoptModule(cmd.Context(), name, module, dir)
			}
			if err := scaffold.Write(lang, name, dir); err != nil {
				return err
			}
			return g.Say(map[string]any{"name": name, "dir": dir, "lang": lang}, "%s is in %s; its README.md says how to go on", name, dir)
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "", "language: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().StringVar(&module, "module", "", "module that is there already")
	cmd.MarkFlagsMutuallyExclusive("lang", "module")
	cmd.Flags().StringVar(&dir, "dir", "", "folder to make; without it NAME")
	return cmd
}
