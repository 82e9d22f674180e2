package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Plugins: build, look at, install, call",
		Long:  "Plugins: build, look at, install, call.\n\nA plugin is a .wasm file with its manifest inside, or a directory with armature.json and\na .wasm file. Putting one into <data>/plugins, replacing or removing it is enough: a\nrunning server takes it over at once.",
	}
	cmd.AddCommand(a.pluginBuildCommand(), a.pluginInspectCommand(), a.pluginInstallCommand(), a.pluginListCommand(), a.pluginRunCommand())
	return cmd
}

// fileName is the name under which a bundle is installed: a directory becomes
// one file.
func fileName(path string) string {
	return strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".wasm") + ".wasm"
}
