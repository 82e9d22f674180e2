package plugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"armature/cmd/armature/platform"
	"armature/cmd/armature/terminal"
	"armature/plugins/bundle"
	"armature/plugins/grant"
	"armature/plugins/loader"
	"armature/plugins/publisher"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

func (g *group) inspectCommand() *cobra.Command {
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
			info, asked, loadError := g.inspectModule(cmd.Context(), b)
			if g.JSON {
				out := map[string]any{"manifest": m, "hash": b.Hash, "module_bytes": len(b.Module), "signature": signatureOf(b)}
				if loadError != nil {
					out["error"] = terminal.Explain(loadError)
				} else {
					out["pristine"], out["reason"], out["snapshot_bytes"], out["grants_asked"] = info.Pristine, info.Reason, info.SnapshotBytes, asked
					out["does"] = grant.InWords(asked)
				}
				if err := g.PrintJSON(out); err != nil || loadError == nil {
					return err
				}
				return terminal.ExitError{Code: 1} // what is wrong is in what was printed
			}
			w := g.Stdout
			fmt.Fprintf(w, "%s %s (ABI %d, %d KiB)\nhash     %s\n", m.Name, m.Version, m.ABI, len(b.Module)/1024, b.Hash)
			fmt.Fprintf(w, "signed   %s\n", signedWords(b.Signature))
			if m.Description != "" {
				fmt.Fprintln(w, m.Description)
			}
			for _, method := range m.Methods {
				fmt.Fprintf(w, "method   %s%s\n", method.Path, remarks(method.Verbs, method.Roles, method.AllowGuest))
			}
			for _, h := range m.Handlers() {
				fmt.Fprintf(w, "event    %s.%s\n", h.DocType, h.Event)
			}
			for _, right := range asked {
				approval := ""
				switch {
				case grant.NeedsApproval(right, true):
					approval = "; waits for an approval"
				case grant.NeedsApproval(right, false):
					approval = "; waits for an approval, unless it lies in the folder of a server"
				}
				fmt.Fprintf(w, "grant    %s: %s%s\n", right, grant.InWords([]string{right})[0], approval)
			}
			for _, l := range grant.AskedLimits(m.Limits) {
				fmt.Fprintf(w, "limit    %s  (to be approved where it is not put into a folder of the server)\n", grant.Words(l))
			}
			switch {
			case loadError != nil:
				fmt.Fprintf(w, "error    %s\n", terminal.Explain(loadError))
				return terminal.ExitError{Code: 1}
			case info.Pristine:
				fmt.Fprintf(w, "start    from a snapshot of %d KiB\n", info.SnapshotBytes/1024)
			default:
				fmt.Fprintf(w, "start    in an instance of its own for every call: %s\n", info.Reason)
			}
			return nil
		},
	}
}

// signatureOf is what inspect tells programs of a signature. signed_text is what
// minisign -V verifies.
func signatureOf(b *bundle.Bundle) map[string]any {
	s := b.Signature
	return map[string]any{"publisher": s.Key, "signed": s.Signed(), "verifies": s.Verifies, "problem": s.Problem, "signed_text": string(b.Stated.Text())}
}

// signedWords says who has signed a plugin, for people.
func signedWords(s publisher.Signature) string {
	switch {
	case !s.Signed():
		return "by nobody"
	case s.Verifies:
		return "by " + s.Key + "; it verifies"
	case s.Key == "":
		return s.Problem
	}
	return "by " + s.Key + ", but " + s.Problem
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
func (g *group) inspectModule(ctx context.Context, b *bundle.Bundle) (info engine.Info, asked []string, err error) {
	e, err := engine.New(ctx, platform.EngineConfig(hostapi.Config{}))
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
