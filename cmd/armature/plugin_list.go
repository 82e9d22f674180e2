package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"armature/plugins/bundle"
)

func (a *app) pluginListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins in the folders of all sites and of this one",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			type row struct {
				Name    string `json:"name"`
				Version string `json:"version"`
				File    string `json:"file"`
				Hash    string `json:"hash"`
				Error   string `json:"error,omitempty"`
			}
			list := []row{}
			var rows [][]any
			for _, dir := range []string{a.layout().Plugins(), a.layout().SitePlugins(a.site)} {
				for _, e := range listBundles(dir) {
					r := row{File: e.path}
					if e.err != nil {
						r.Error = e.err.Error()
					} else {
						r.Name, r.Version, r.Hash = e.bundle.Manifest.Name, e.bundle.Manifest.Version, e.bundle.Hash
					}
					list = append(list, r)
					rows = append(rows, []any{r.Name, r.Version, r.File, r.Error})
				}
			}
			return a.table(list, "PLUGIN\tVERSION\tFILE\tERROR", rows)
		},
	}
}

// installed is one entry of a plugin folder: a bundle, or why it is none.
type installed struct {
	path   string
	bundle *bundle.Bundle
	err    error
}

// listBundles reads a plugin folder; one that is missing is empty.
func listBundles(dir string) []installed {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []installed
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !bundle.IsBundle(path) {
			continue
		}
		b, err := bundle.Read(path)
		list = append(list, installed{path, b, err})
	}
	return list
}
