package serve

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/platform"
	"armature/core/accesslog"
	"armature/core/document"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/metrics"
	"armature/plugins/plugintest"
)

// BenchmarkRequest is what the whole server does for a request, the network
// aside: one document read over REST, and the same by a method of a plugin. The
// allocations are those of make bench but for the ones of net/http.
func BenchmarkRequest(b *testing.B) {
	b.Setenv("ARMATURE_ADMIN_PASSWORD", "correct horse battery")
	in := (&installation.Installation{}).Apart(b.TempDir())
	a := &group{Installation: in}
	cache, err := os.UserCacheDir() // compiling a guest takes seconds
	if err != nil {
		b.Fatal(err)
	}
	cache = filepath.Join(cache, "armature-test")
	for _, dir := range []string{cache, a.Layout().Plugins()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Symlink(cache, a.Layout().Cache()); err != nil {
		b.Fatal(err)
	}
	bundle := plugintest.Build(b, "../../../examples/todo")
	if err := os.WriteFile(filepath.Join(a.Layout().Plugins(), "todo.wasm"), bundle, 0o600); err != nil {
		b.Fatal(err)
	}

	log := slog.New(slog.DiscardHandler)
	p, err := platform.Open(b.Context(), in, log, platform.Options{Slow: func() time.Duration { return time.Second }})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	if err := p.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := a.openSites(b.Context(), p, log); err != nil {
		b.Fatal(err)
	}
	t := p.Set.Tenant("default")
	var auth, name string
	err = t.Store.Write(b.Context(), document.OwnTx, func(tx document.Tx) error {
		keys, err := t.Auth.GenerateKeys(b.Context(), tx, identity.Root(), identity.Administrator)
		if err != nil {
			return err
		}
		auth = "token " + keys.Key + ":" + keys.Secret
		doc, err := t.Documents.As(identity.Root(), tx).Insert(b.Context(), "ToDo", map[string]any{"description": "Call Zoë"})
		if err == nil {
			name = doc.Name()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	handler := p.Guests.Metrics.Beside(httpapi.New(httpapi.Config{
		Sites: p.Set, Logger: log, Access: accesslog.New(io.Discard, accesslog.Text), Meter: metrics.NewHTTP(p.Guests.Metrics.Registry),
	}))

	for _, bb := range []struct{ name, path string }{
		{"read", "/api/resource/ToDo/" + name},
		{"method", "/api/method/acme.todo.show?name=" + name},
	} {
		request := httptest.NewRequest("GET", bb.path, nil)
		request.Host = "127.0.0.1:8000"
		request.Header.Set("Authorization", auth)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != http.StatusOK {
			b.Fatalf("%s answers %d: %s", bb.path, answer.Code, answer.Body)
		}
		b.Run(bb.name, func(b *testing.B) {
			w := nowhere{make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				r := *request
				handler.ServeHTTP(w, &r)
			}
		})
	}
}

// nowhere is a response that nobody reads.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header { return n.header }

func (n nowhere) WriteHeader(int) {}

func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
