package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"armature/plugins/bundle"
	"armature/plugins/grant"
	"armature/plugins/loader"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

func (a *app) pluginInspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a plugin claims and asks for",
		Long:  "Show what a plugin claims and asks for, and how its calls will start: from a snapshot, or in an\ninstance of their own. The module initialises itself as on a server; no method runs.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := bundle.Read(args[0])
			if err != nil {
				return err
			}
			m := b.Manifest
			info, asked, loadError := a.inspectModule(cmd.Context(), b)
			if a.json {
				out := map[string]any{"manifest": m, "hash": b.Hash, "module_bytes": len(b.Module)}
				if loadError != nil {
					out["error"] = explain(loadError)
				} else {
					out["pristine"], out["reason"], out["snapshot_bytes"], out["grants_asked"] = info.Pristine, info.Reason, info.SnapshotBytes, asked
					out["does"] = grant.InWords(asked)
				}
				if err := a.printJSON(out); err != nil || loadError == nil {
					return err
				}
				return exitError{1} // what is wrong is in what was printed
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
			for _, g := range asked {
				approval := ""
				switch {
				case grant.NeedsApproval(g, true):
					approval = "; waits for an approval"
				case grant.NeedsApproval(g, false):
					approval = "; waits for an approval, unless it lies in the folder of a server"
				}
				fmt.Fprintf(w, "grant    %s: %s%s\n", g, grant.InWords([]string{g})[0], approval)
			}
			for _, l := range grant.AskedLimits(m.Limits) {
				fmt.Fprintf(w, "limit    %s  (to be approved where it is not put into a folder of the server)\n", grant.Words(l))
			}
			switch {
			case loadError != nil:
				fmt.Fprintf(w, "error    %s\n", explain(loadError))
				return exitError{1}
			case info.Pristine:
				fmt.Fprintf(w, "start    from a snapshot of %d KiB\n", info.SnapshotBytes/1024)
			default:
				fmt.Fprintf(w, "start    in an instance of its own for every call: %s\n", info.Reason)
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

// inspectModule loads the module as a server does.
func (a *app) inspectModule(ctx context.Context, b *bundle.Bundle) (info engine.Info, asked []string, err error) {
	e, err := engine.New(ctx, guestEngine(hostapi.Config{}))
	if err != nil {
		return info, nil, err
	}
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	m, err := e.Load(ctx, b.Module)
	if err != nil {
		return info, nil, err
	}
	defer m.Release()
	return m.Inspect(), grant.Asked(b.Manifest, m.Imports()), loader.Claims(b.Manifest, m)
}
