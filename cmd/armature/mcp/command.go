// Package mcp is the command that lets an agent write plugins: it speaks the Model
// Context Protocol on standard input and output, with a project folder and a
// development server.
package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"armature/cmd/armature/devserver"
	"armature/cmd/armature/installation"
	"armature/cmd/armature/remote"
	"armature/cmd/armature/settings"
	"armature/cmd/armature/terminal"
	"armature/core/fault"
	"armature/core/tenant"
	"armature/plugins/toolchain"
)

// group is the settings of the command.
type group struct {
	*installation.Installation
	server     remote.Flags
	listen     string
	lent       bool // listen was not asked for
	production bool
	approve    []string
}

// Command makes the command.
func Command(in *installation.Installation) *cobra.Command {
	g := &group{Installation: in}
	cmd := &cobra.Command{
		Use:   "mcp [DIR]",
		Short: "Let an agent write plugins",
		Long: "Speak the Model Context Protocol on standard input and output, for an agent that writes plugins in the\n" +
			"folder DIR: its tools look at the site, make DocTypes, and begin, write, test, install and call plugins.\n" +
			"The site is one of a server of its own, whose data is thrown away at the end unless --data names a folder\n" +
			"to keep it in, or one of a running server, with --url and the API key of a System Manager.\n\n" +
			"On data that is kept the agent is the user agent@armature.localhost, a System Manager, unless ARMATURE_API_KEY says who\n" +
			"it is.\n\n" +
			"Files outside of DIR and hidden ones are neither read nor written. A site that is known to the world by a\n" +
			"name or an address is refused without --production. Plugins in compiled languages are built by the\n" +
			"compilers of this machine, as `plugin build` does, and their code runs in WebAssembly alone.\n\n" +
			"Database, Redis and site of the environment or a file of settings are left alone, unless the data folder\n" +
			"comes from there, too; beside --data give them as flags.",
		Example: "  armature mcp\n" +
			"  claude mcp add armature -- armature mcp ~/shop --data ~/shop-data\n" +
			"  ARMATURE_API_KEY=key:secret armature mcp --url http://127.0.0.1:8000",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, inEnv := os.LookupEnv(settings.Variable("listen"))
			g.lent = !cmd.Flags().Changed("listen") && !inEnv
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			own := *g.Installation
			if !devserver.DataGiven(cmd) {
				own.Data = ""
			}
			if g.server.URL == "" {
				if err := devserver.Separate(&own, cmd.Flags().Changed); err != nil {
					return err
				}
			}
			return g.run(cmd.Context(), &own, dir)
		},
	}
	cmd.Flags().StringVar(&g.listen, "listen", "127.0.0.1:8000", "address of the server of its own; without the flag another one if this is taken")
	cmd.Flags().BoolVar(&g.production, "production", false, "work on a site that people use")
	cmd.Flags().StringSliceVar(&g.approve, "approve", nil, "grants that plugins which the agent installs may have; on data that is thrown away they get all")
	g.server.AddFlags(cmd.Flags())
	return cmd
}

// run serves one agent until it leaves or ctx ends. Nothing but messages may reach
// standard output.
func (g *group) run(ctx context.Context, own *installation.Installation, dir string) error {
	project, err := openProject(dir)
	if err != nil {
		return err
	}
	defer project.close()
	workspace, err := toolchain.NewWorkspace(settings.ToolEnvironment())
	if err != nil {
		return err
	}
	defer func() { _ = workspace.Close() }() // what stays of it is in the temporary folder
	a := &author{in: g.Installation, project: project, workspace: workspace, approve: g.approve}
	if a.site, err = g.server.Site(g.Stderr, g.Version); err != nil {
		return err
	}
	if a.site != nil {
		err = g.admitServer(ctx, a.site)
	} else {
		var end func()
		if end, err = g.serveOwn(ctx, own, a); end != nil {
			defer end()
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Stderr, "an agent may work in %s, on the site at %s\n", project.dir, a.site.URL())
	return a.serve(ctx, g.Version)
}

// admitServer refuses a server that people use, unless that was asked for.
func (g *group) admitServer(ctx context.Context, h *remote.Site) error {
	if g.production {
		return nil
	}
	if !remote.Local(h.URL()) {
		return refused(h.URL()) // it is not even asked
	}
	issuer, err := h.Issuer(ctx)
	if err != nil {
		return err
	}
	if !remote.Local(issuer) {
		return refused(issuer)
	}
	return nil
}

// serveOwn starts a server of the agent's own.
func (g *group) serveOwn(ctx context.Context, own *installation.Installation, a *author) (end func(), err error) {
	a.own = true
	var undo []func()
	end = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	if own.Data == "" {
		tmp, err := os.MkdirTemp("", "armature-mcp-")
		if err != nil {
			return nil, err
		}
		undo = append(undo, func() { _ = os.RemoveAll(tmp) })
		own, a.thrown = own.Apart(filepath.Join(tmp, "data")), true
	} else if err := g.admitData(ctx, own); err != nil {
		return end, err
	}
	log := slog.New(slog.NewTextHandler(g.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c := devserver.Config{Listen: g.listen, Lent: g.lent, Log: log}
	if given := g.server.Key(); given != "" {
		c.Keys = func(context.Context, *tenant.Tenant) (string, error) { return given, nil }
	} else if !a.thrown {
		c.Keys = keysOfAgent
	}
	server, err := devserver.Open(ctx, own, c)
	if err != nil {
		return end, err
	}
	undo = append(undo, server.Close)
	a.site = remote.At(server.URL, server.Auth, g.Version)
	return end, nil
}

// admitData refuses data of a site that people use, unless that was asked for.
func (g *group) admitData(ctx context.Context, own *installation.Installation) error {
	if g.production {
		return nil
	}
	config, err := own.Silent().ConfigOf(ctx, own.Site)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return nil // it is made
	}
	if err != nil {
		return err
	}
	for _, host := range config.Hosts() {
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return refused(host)
		}
	}
	if address := config.URL(); address != "" && !remote.Local(address) {
		return refused(address)
	}
	return nil
}

func refused(address string) error {
	return terminal.Misuse("the site is known as %s: people may use it\nhint: work on another one, or give --production if it is this one that you mean", address)
}
