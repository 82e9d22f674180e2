package site

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"armature/cmd/armature/remote"
	"armature/cmd/armature/terminal"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/public/publish"
	"armature/core/tenant"
)

func (g *group) publishCommand() *cobra.Command {
	server := &remote.Flags{}
	var rollback bool
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Publish a folder as what a site serves at /",
		Long: "Publish a folder as what a site serves at /, all of its files at once, in place of the site's\n" +
			"folder public. Some versions are kept, and --rollback goes back by one: before the first that\n" +
			"is the folder public again. Names that begin with a dot are left out, but for .well-known.\n" +
			"Where several servers serve the site, each has its own.",
		Example: "  armature site publish dist\n" +
			"  ARMATURE_API_KEY=key:secret armature site publish dist --url https://shop.example.org\n" +
			"  armature site publish --rollback",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case rollback && len(args) > 0:
				return terminal.Misuse("--rollback takes no folder")
			case rollback:
				return g.rollback(cmd.Context(), server)
			case len(args) == 0:
				return terminal.Misuse("usage: armature site publish DIR")
			}
			return g.publish(cmd.Context(), server, args[0])
		},
	}
	server.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&rollback, "rollback", false, "go back to the version before the one that is served")
	return cmd
}

func (g *group) publish(ctx context.Context, server *remote.Flags, dir string) error {
	archive, left, err := pack(dir)
	if err != nil {
		return err
	}
	var v publish.Version
	if err := g.frontend(ctx, server, "publish", map[string]any{"file": archive}, &v); err != nil {
		return err
	}
	hidden := ""
	if left > 0 {
		hidden = fmt.Sprintf("; %d whose names begin with a dot were left out", left)
	}
	return g.Say(v, "published %d files (%s) as version %s%s", v.Files, humanize.IBytes(uint64(v.Bytes)), v.Name, hidden)
}

func (g *group) rollback(ctx context.Context, server *remote.Flags) error {
	var left []publish.Version
	if err := g.frontend(ctx, server, "rollback", map[string]any{}, &left); err != nil {
		return err
	}
	if len(left) == 0 {
		return g.Say(left, "no published version is left: the site's folder public is served")
	}
	last := left[len(left)-1]
	return g.Say(left, "version %s is served, which %s published on %s", last.Name, last.By, last.At.Format("2006-01-02 15:04"))
}

// frontend calls one of framework.frontend.* on the site that is meant.
func (g *group) frontend(ctx context.Context, server *remote.Flags, name string, args map[string]any, result any) error {
	const prefix = "framework.frontend."
	h, err := server.Site(g.Stderr, g.Version)
	if err != nil {
		return err
	}
	if h != nil {
		return h.Manage(ctx, prefix+name, args, result)
	}
	if err := g.Exists(ctx); err != nil {
		return err
	}
	return g.WithTenant(ctx, func(t *tenant.Tenant) error {
		res, err := t.Methods().Run(ctx, method.Invocation{Path: prefix + name, Verb: http.MethodPost, Caller: identity.Root(), Args: method.ArgsMap(args)})
		if err != nil {
			return err
		}
		return json.Unmarshal(res.Message, result)
	})
}

// pack makes an archive of a folder, and says how many names it has left out.
func pack(dir string) (archive []byte, left int, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(base, ".") && base != "." && base != ".well-known":
			left++
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s: links, devices and the like cannot be published", name)
		}
		if b.Len() > publish.MaxArchive {
			return fmt.Errorf("%s: over %d MiB as an archive, the limit", dir, publish.MaxArchive>>20)
		}
		return add(z, root, name)
	})
	if err != nil {
		return nil, 0, err
	}
	if err := z.Close(); err != nil {
		return nil, 0, err
	}
	return b.Bytes(), left, nil
}

func add(z *zip.Writer, root *os.Root, name string) error {
	from, err := root.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := z.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}
