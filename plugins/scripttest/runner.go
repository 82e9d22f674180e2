package scripttest

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"time"

	"armature/plugins/manifest"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
	"armature/runtime/quickjs"
)

//go:embed stub
var stub embed.FS

// began is the time at which every test begins; it stands still.
var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Config is what a Runner needs.
type Config struct {
	// CacheDir keeps the compiled interpreter, as engine.Config has it; empty: it
	// is compiled anew, which takes half a second.
	CacheDir string
	// Reaches reports whether a URL is at one of the hosts a manifest allows.
	Reaches func(hosts []string, url string) bool
}

// Runner runs tests, one at a time.
type Runner struct {
	cfg     Config
	engine  *engine.Engine
	now     time.Time          // for the guests
	random  *mathrand.ChaCha8  // for the guests
	plugin  *manifest.Manifest // whose tests run; nil: none
	loading logLines           // of the file, while it is loaded
}

// New makes a Runner, which has to be closed.
func New(ctx context.Context, cfg Config) (*Runner, error) {
	text, err := stubText()
	if err != nil {
		return nil, err
	}
	r := &Runner{cfg: cfg}
	r.begin()
	clock := func() time.Time { return r.now }
	imports := hostapi.Imports(hostapi.Config{Now: clock, Random: senses{r}, Logger: slog.New(&r.loading)})
	r.engine, err = engine.New(ctx, engine.Config{
		Imports: imports, Interpreters: []engine.Interpreter{quickjs.New(imports).With(text)},
		CacheDir: cfg.CacheDir, Now: clock, Birth: &engine.Birth{Seed: make([]byte, 32), Wall: began.UnixNano()},
	})
	if err != nil {
		return nil, fmt.Errorf("WebAssembly: %w", err)
	}
	return r, nil
}

// Close ends the Runner.
func (r *Runner) Close(ctx context.Context) error { return r.engine.Close(ctx) }

// begin sets time and randomness to what every test finds.
func (r *Runner) begin() { r.now, r.random = began, mathrand.NewChaCha8([32]byte{}) }

// senses is the randomness of the test that runs.
type senses struct{ r *Runner }

func (s senses) Read(b []byte) (int, error) { return s.r.random.Read(b) }

// stubText is all of the stub, in the order of its files' names.
func stubText() ([]byte, error) {
	var b bytes.Buffer
	err := fs.WalkDir(stub, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := stub.ReadFile(path)
		b.Write(text)
		return err
	})
	return b.Bytes(), err
}
