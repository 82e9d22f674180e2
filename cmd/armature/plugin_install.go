package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"armature/plugins/bundle"
)

func (a *app) pluginInstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install FILE",
		Short: "Install a plugin for all sites, or with --site for one",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := a.layout().Plugins()
			if cmd.Flags().Changed("site") {
				dir = a.layout().SitePlugins(a.site)
			}
			b, to, err := installPlugin(args[0], dir)
			if err != nil {
				return err
			}
			return a.say(map[string]any{"name": b.Manifest.Name, "version": b.Manifest.Version, "file": to, "hash": b.Hash},
				"installed %s %s as %s", b.Manifest.Name, b.Manifest.Version, to)
		},
	}
}

// installPlugin copies a bundle into a plugin folder, over the plugin of the
// same name if there is one.
func installPlugin(path, dir string) (*bundle.Bundle, string, error) {
	b, err := bundle.Read(path)
	if err != nil {
		return nil, "", err
	}
	whole, err := wholeFile(path, b)
	if err != nil {
		return nil, "", err
	}
	to := filepath.Join(dir, fileName(path))
	for _, e := range listBundles(dir) {
		if e.err != nil || e.bundle.Manifest.Name != b.Manifest.Name {
			continue
		}
		if info, err := os.Stat(e.path); err == nil && info.IsDir() {
			return nil, "", fmt.Errorf("%s is installed already, as the directory %s: remove it first", b.Manifest.Name, e.path)
		}
		to = e.path
	}
	return b, to, replaceFile(to, whole)
}

// wholeFile is the bundle as one file.
func wholeFile(path string, b *bundle.Bundle) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return os.ReadFile(path)
	}
	text, err := os.ReadFile(filepath.Join(path, bundle.ManifestFile))
	if err != nil {
		return nil, err
	}
	return bundle.Embed(b.Module, text)
}
