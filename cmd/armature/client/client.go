// Package client is the commands that write programs for who uses a site's API.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/outfile"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/remote"
	"armature/cmd/armature/terminal"
	"armature/core/fault"
	"armature/core/openapi/typescript"
	"armature/core/tenant"
)

// group is the commands about clients.
type group struct {
	*installation.Installation
	server remote.Flags
	user   string // of the site of data and site
}

// Command makes the commands about clients.
func Command(in *installation.Installation) *cobra.Command {
	g := &group{Installation: in}
	cmd := &cobra.Command{Use: "client", Short: "Clients of a site's API"}
	cmd.AddCommand(g.typescriptCommand())
	return cmd
}

func (g *group) typescriptCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "ts",
		Short: "Write a client in TypeScript",
		Long: "Write a client in TypeScript, made of the DocTypes and methods that there are now and that one\n" +
			"user may use: of the site of --data and --site the user that --user names, of a server elsewhere the\n" +
			"user of the API key. It needs fetch and no package, in a browser as in Node.js, Deno and Bun.\n" +
			"The same site and user make the same files: a check in CI can run it and compare.",
		Example: "  armature client ts --out web/api\n  ARMATURE_API_KEY=key:secret armature client ts --out web/api --url https://shop.example.org",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return terminal.Misuse("name the folder to write to with --out")
			}
			description, err := g.describe(cmd.Context())
			if err != nil {
				return err
			}
			files, err := typescript.Client(description)
			if err != nil {
				return err
			}
			if err := write(out, files); err != nil {
				return err
			}
			names := slices.Sorted(maps.Keys(files))
			return g.Say(map[string]any{"folder": out, "files": names}, "wrote %s to %s", names, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder to write armature.ts and doctypes.ts to")
	cmd.Flags().StringVar(&g.user, "user", "Administrator", "whose DocTypes and methods, of the site of --data and --site")
	g.server.AddFlags(cmd.Flags())
	return cmd
}

// describe is the OpenAPI document of the site that is meant, as the user sees it.
func (g *group) describe(ctx context.Context) (text []byte, err error) {
	server, err := g.server.Site(g.Stderr, g.Version)
	if err != nil {
		return nil, err
	}
	if server != nil {
		return server.Description(ctx)
	}
	if err := g.Exists(ctx); err != nil {
		return nil, err
	}
	err = platform.With(ctx, g.Installation, func(_ *platform.Platform, t *tenant.Tenant) error {
		caller, err := t.Auth.Caller(ctx, g.user)
		if fault.KindOf(err) == fault.Authentication {
			return fault.Missing("There is no user %s", g.user)
		}
		if err == nil {
			text, err = t.Edge().Describe(caller, "")
		}
		return err
	})
	return text, err
}

// write puts the files into a folder. A file of the same name that somebody else has
// written is left alone.
func write(folder string, files map[string][]byte) error {
	for name := range files {
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !bytes.HasPrefix(text, []byte(typescript.Mark)):
			return fmt.Errorf("%s was not made by this command and is not overwritten: name another folder with --out: %w", path, fs.ErrExist)
		}
	}
	for name, text := range files {
		if err := outfile.Replace(filepath.Join(folder, name), text); err != nil {
			return err
		}
	}
	return nil
}
