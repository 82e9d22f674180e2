// Package plugin is the commands about the plugins of a site: looked at, installed,
// approved, called. The commands of those who write plugins are in rooms of their own.
package plugin

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/pluginbuild"
	"armature/cmd/armature/plugindev"
	"armature/cmd/armature/plugintest"
	"armature/cmd/armature/remote"
	"armature/core/tenant"
)

// group is the commands about the plugins of a site.
type group struct {
	*installation.Installation
	remote *remote.Flags
}

// Command makes the commands about plugins.
func Command(in *installation.Installation) *cobra.Command {
	server := &remote.Flags{}
	a := &group{in, server}
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Plugins: build, look at, install, call",
		Long:  "Plugins: build, look at, install, call.\n\nA plugin is a .wasm file with its manifest inside, or a directory with armature.json and\na .wasm file. Installing one stores it in the database of a site; putting one into\n<data>/plugins has it serve all sites. A running server takes either over at once.\n\nWith --url the commands that manage plugins work on a site of a server elsewhere.",
	}
	server.AddFlags(cmd.PersistentFlags())
	for _, c := range slices.Concat([]*cobra.Command{plugindev.Command(in, server)}, pluginbuild.Commands(in.Terminal), plugintest.Commands(in)) {
		cmd.AddCommand(untilHangup(c))
	}
	cmd.AddCommand(pluginbuild.AuthorCommands(in.Terminal)...)
	cmd.AddCommand(a.inspectCommand(), a.installCommand(), a.listCommand(), a.logsCommand(), a.runCommand(), a.replayCommand(), a.readCommand(), a.compileCommand())
	cmd.AddCommand(a.manageCommands()...)
	return cmd
}

// managePlugins calls one of framework.plugins.* on the site that is meant, as
// somebody does over HTTP, and reads the answer into result. An argument that is
// bytes is a bundle.
func (g *group) managePlugins(ctx context.Context, name string, args map[string]any, result any) error {
	h, err := g.remote.Site(g.Stderr, g.Version)
	if err != nil {
		return err
	}
	if h != nil {
		return h.Manage(ctx, "framework.plugins."+name, args, result)
	}
	if name != "install" && name != "plan" {
		if err := g.Exists(ctx); err != nil {
			return err
		}
	}
	return platform.With(ctx, g.Installation, func(_ *platform.Platform, t *tenant.Tenant) error {
		return platform.Manage(ctx, t, name, args, result)
	})
}
