package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"armature/cmd/armature/outfile"
	"armature/cmd/armature/terminal"
	"armature/plugins/bundle"
	"armature/plugins/doctypes"
	"armature/plugins/grant"
	"armature/plugins/installed"
	"armature/plugins/publisher"
)

func (g *group) installCommand() *cobra.Command {
	var dry, all bool
	var approve []string
	cmd := &cobra.Command{
		Use:   "install FILE",
		Short: "Install a plugin on a site",
		Long:  "Install a plugin, or another version of one, on a site: it is stored in the site's database.\nWho has the site's data at hand gives it the documents and methods that it names, the platform's\nown aside. What else it needs waits for `plugin approve`, unless --approve names what it may have,\nand until then the plugin does not serve, or the version before it does. With --all-sites the file is put into <data>/plugins instead.\nWith --url the site is one of a server elsewhere, and all that the plugin needs waits.",
		Example: "  armature plugin install shop.wasm\n" +
			"  ARMATURE_API_KEY=key:secret armature plugin install shop.wasm --url https://shop.example.org",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := bundle.Read(args[0])
			if err != nil {
				return err
			}
			if all {
				if g.remote.URL != "" {
					return terminal.Misuse("--all-sites puts a file into a folder of this machine: leave --url out")
				}
				return g.installForAll(args[0], b, dry)
			}
			whole, err := bundle.Whole(args[0])
			if err != nil {
				return err
			}
			name := "install"
			if dry {
				name = "plan"
			}
			if approve, err = g.operators(cmd.Context(), whole, approve); err != nil {
				return err
			}
			var done installed.Installation
			err = g.managePlugins(cmd.Context(), name, map[string]any{
				"file": whole, "approve": strings.Join(approve, ","),
			}, &done)
			if err != nil {
				return err
			}
			return g.sayInstallation(&done, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&all, "all-sites", false, "put the plugin into <data>/plugins, where it serves every site")
	cmd.Flags().StringSliceVar(&approve, "approve", nil, "grants to approve along with the installation")
	return cmd
}

// operators adds to what is approved by name what an operator gives by installing a
// plugin on data of this machine, as by putting it into a folder.
func (g *group) operators(ctx context.Context, whole []byte, approve []string) ([]string, error) {
	if h, err := g.remote.Site(g.Stderr, g.Version); h != nil || err != nil {
		return approve, err
	}
	var planned installed.Installation
	if err := g.managePlugins(ctx, "plan", map[string]any{"file": whole, "approve": strings.Join(approve, ",")}, &planned); err != nil {
		return nil, err
	}
	for _, right := range planned.Waiting {
		if !grant.NeedsApproval(right, true) {
			approve = append(approve, right)
		}
	}
	return approve, nil
}

func (g *group) sayInstallation(done *installed.Installation, dry bool) error {
	if g.JSON {
		return g.PrintJSON(done)
	}
	verb := "installed"
	if dry {
		verb = "would install"
	}
	fmt.Fprintf(g.Stdout, "%s %s %s", verb, done.Plugin, done.Version)
	if done.Replaces != "" {
		fmt.Fprintf(g.Stdout, " in place of %s", done.Replaces)
	}
	fmt.Fprintf(g.Stdout, ": %s\n", done.Status)
	if key := done.Publisher; key != "" && key != publisher.Nobody {
		fmt.Fprintf(g.Stdout, "signed by %s, which verifies\n", key)
	}
	for _, s := range done.DocTypes {
		g.sayStep(s)
	}
	for i, words := range done.Does {
		fmt.Fprintf(g.Stdout, "grant  %s: %s\n", done.Asked[i], words)
	}
	if c := done.Changes; c != nil {
		for _, words := range c.More {
			fmt.Fprintf(g.Stdout, "     + %s\n", words)
		}
		for _, words := range c.Less {
			fmt.Fprintf(g.Stdout, "     - %s\n", words)
		}
	}
	if len(done.Waiting) > 0 {
		fmt.Fprintf(g.Stdout, "waits for approval: %s\n", strings.Join(grant.Described(done.Waiting), ", "))
	}
	switch {
	case done.Pending && done.Replaces != "":
		fmt.Fprintf(g.Stdout, "until then %s goes on serving; approve with: armature plugin approve %s\n", done.Replaces, done.Plugin)
	case done.Pending:
		fmt.Fprintf(g.Stdout, "until then it does not serve; approve with: armature plugin approve %s\n", done.Plugin)
	}
	return nil
}

// signer is a publisher in words.
func signer(key string) string {
	if key == "" || key == publisher.Nobody {
		return "nobody"
	}
	return key
}

func (g *group) sayStep(s doctypes.Step) {
	fmt.Fprintf(g.Stdout, "%-6s DocType %s\n", s.Action, s.DocType)
	for _, name := range s.Added {
		fmt.Fprintf(g.Stdout, "       + %s\n", name)
	}
	for _, c := range s.Changed {
		fmt.Fprintf(g.Stdout, "       ~ %s: %v -> %v\n", c.What, c.From, c.To)
	}
	for _, name := range s.Roles {
		fmt.Fprintf(g.Stdout, "       + role %s\n", name)
	}
	for _, name := range s.Removed {
		fmt.Fprintf(g.Stdout, "       - %s (its data stays)\n", name)
	}
}

// installForAll copies a bundle into the folder of all sites, over the plugin of
// the same name if there is one.
func (g *group) installForAll(path string, b *bundle.Bundle, dry bool) error {
	dir := g.Layout().Plugins()
	to := filepath.Join(dir, bundle.FileName(path))
	for _, e := range bundle.List(dir) {
		if e.Err != nil || e.Bundle.Manifest.Name != b.Manifest.Name {
			continue
		}
		if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is installed already, as the directory %s: remove it first", b.Manifest.Name, e.Path)
		}
		to = e.Path
	}
	verb := "would install"
	if !dry {
		whole, err := bundle.Whole(path)
		if err != nil {
			return err
		}
		if err := outfile.Replace(to, whole); err != nil {
			return err
		}
		verb = "installed"
	}
	return g.Say(map[string]any{"name": b.Manifest.Name, "version": b.Manifest.Version, "file": to, "hash": b.Hash},
		"%s %s %s as %s", verb, b.Manifest.Name, b.Manifest.Version, to)
}
