package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/settings"
	"armature/core/document"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/site"
	"armature/core/tenant"
	"armature/plugins/bundle"
	"armature/plugins/toolchain"
	"armature/sdk/conformance"
)

func (g *group) conformanceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "conformance FILE|DIR",
		Short: "Check an SDK by the plugin that sdk/conformance describes",
		Long:  "Check an SDK, or a language without one: FILE is a module with the exports that\nsdk/conformance/README.md describes, DIR its sources. It is installed on a server made for the purpose, with a\ntemporary folder, and every case is called over HTTP. A case that fails says what was expected\nand what came, and makes the command fail.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wasm, err := g.moduleOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			results, err := conform(cmd.Context(), g.Installation, wasm)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return g.sayConformance(results)
		},
	}
}

// moduleOf is a file, or what a folder of sources is compiled to.
func (g *group) moduleOf(ctx context.Context, path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return toolchain.Compile(ctx, path, settings.ToolEnvironment(), g.Stderr)
	}
	return os.ReadFile(path)
}

func (g *group) sayConformance(results []conformance.Result) error {
	failed := 0
	for _, r := range results {
		if r.Error != "" {
			failed++
		}
	}
	if g.JSON {
		if err := g.PrintJSON(map[string]any{"passed": len(results) - failed, "failed": failed, "cases": results}); err != nil {
			return err
		}
	} else {
		for _, r := range results {
			if r.Error == "" {
				fmt.Fprintf(g.Stdout, "pass  %-22s %s\n", r.Case, r.Proves)
			} else {
				fmt.Fprintf(g.Stdout, "FAIL  %-22s %s\n      %s\n", r.Case, r.Proves, r.Error)
			}
		}
		fmt.Fprintf(g.Stdout, "%d of %d cases pass\n", len(results)-failed, len(results))
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases fail", failed, len(results))
	}
	return nil
}

// reader is the user without roles.
const reader = "reader@example.com"

// conform runs the suite on a module, on a server of its own: SQLite in a
// temporary folder, a free port of loopback, and another for what it asks.
func conform(ctx context.Context, in *installation.Installation, wasm []byte) (results []conformance.Result, err error) {
	data, err := os.MkdirTemp("", "armature-conformance-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(data)
	own := in.Apart(data)
	far, closeFar, err := loopback(conformance.Far())
	if err != nil {
		return nil, err
	}
	defer closeFar()
	s := conformance.Server{Far: "http://" + far}
	manifest, err := conformance.ManifestFor(far)
	if err != nil {
		return nil, err
	}
	if s.Module, err = bundle.Embed(wasm, manifest); err != nil {
		return nil, err
	}
	if err := own.WithTenant(ctx, func(t *tenant.Tenant) error {
		s.Admin, s.Reader, err = conformanceUsers(ctx, t)
		return err
	}); err != nil {
		return nil, err
	}
	configured := fmt.Sprintf(`{%q: %s}`, conformance.Plugin, conformance.Settings)
	if _, err := own.Configure(ctx, site.Default, "plugins", configured); err != nil {
		return nil, err
	}
	if _, err := own.Configure(ctx, site.Default, "allowed_private_hosts", fmt.Sprintf("[%q]", far)); err != nil {
		return nil, err
	}

	// A mail server that nobody ever asks: a letter's job is all that is looked at.
	if _, err := own.Configure(ctx, site.Default, "mail", `{"host": "127.0.0.1", "port": 1, "tls": "none", "from": "conformance@example.com"}`); err != nil {
		return nil, err
	}

	p, err := platform.Open(ctx, own, slog.New(slog.DiscardHandler), platform.Options{Idle: -1})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.Start(ctx); err != nil {
		return nil, err
	}
	if _, err := p.Set.Open(ctx, site.Default); err != nil {
		return nil, err
	}
	s.Log = func() string {
		return string(bytes.Join(rawLines(p.Guests.Site(site.Default).Log(conformance.Plugin, 100)), []byte("\n")))
	}

	address, closeServer, err := loopback(httpapi.New(httpapi.Config{Sites: p.Set}))
	if err != nil {
		return nil, err
	}
	defer closeServer()
	s.URL = "http://" + address
	return conformance.Run(ctx, s), nil
}

// loopback serves at a free port until end is called.
func loopback(handler http.Handler) (address string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return listener.Addr().String(), func() {
		_ = server.Close()
		<-served
	}, nil
}

// conformanceUsers makes the reader and gives both users credentials.
func conformanceUsers(ctx context.Context, t *tenant.Tenant) (admin, read string, err error) {
	authorization := func(tx document.Tx, user string) string {
		keys, e := t.Auth.GenerateKeys(ctx, tx, identity.Root(), user)
		err = errors.Join(err, e)
		return "token " + keys.Key + ":" + keys.Secret
	}
	werr := t.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		values := map[string]any{"email": reader, "first_name": "Reader"}
		if _, err := t.Documents.As(identity.Root(), tx).Insert(ctx, "User", values); err != nil {
			return err
		}
		admin, read = authorization(tx, "Administrator"), authorization(tx, reader)
		return err
	})
	return admin, read, werr
}

func rawLines(lines []json.RawMessage) (texts [][]byte) {
	for _, line := range lines {
		texts = append(texts, line)
	}
	return texts
}
