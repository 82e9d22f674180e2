package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"armature/plugins/bundle"
)

func (a *app) pluginInspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a plugin claims and asks for, without running it",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := bundle.Read(args[0])
			if err != nil {
				return err
			}
			m := b.Manifest
			if a.json {
				return a.printJSON(map[string]any{"manifest": m, "hash": b.Hash, "module_bytes": len(b.Module)})
			}
			w := a.stdout
			fmt.Fprintf(w, "%s %s (ABI %d, %d KiB)\nhash     %s\n", m.Name, m.Version, m.ABI, len(b.Module)/1024, b.Hash)
			if m.Description != "" {
				fmt.Fprintln(w, m.Description)
			}
			for _, method := range m.Methods {
				fmt.Fprintf(w, "method   %s%s\n", method.Path, remarks(method.Verbs, method.Roles, method.AllowGuest))
			}
			for _, h := range m.Handlers() {
				fmt.Fprintf(w, "event    %s.%s\n", h.DocType, h.Event)
			}
			for _, g := range m.Grants {
				fmt.Fprintf(w, "grant    %s\n", g)
			}
			for _, h := range m.AllowedHosts {
				fmt.Fprintf(w, "host     %s\n", h)
			}
			return nil
		},
	}
}

func remarks(verbs, roles []string, guest bool) string {
	var parts []string
	if len(verbs) > 0 {
		parts = append(parts, strings.Join(verbs, ", "))
	}
	if len(roles) > 0 {
		parts = append(parts, "roles "+strings.Join(roles, ", "))
	}
	if guest {
		parts = append(parts, "open to guests")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}
