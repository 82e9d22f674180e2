// Package testbench is where the tests of plugins run: the platform as a server has
// it, on sites that last as long as one test.
package testbench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/outfile"
	"armature/cmd/armature/platform"
	"armature/core/identity"
	"armature/core/tenant"
	"armature/plugins/bundle"
	"armature/plugins/testrun"
	"armature/runtime/abi"
)

// Bench is where the tests of a plugin run: the platform as a server has it, with
// the plugin in the folder of plugins, on sites that last as long as one test. The
// time, randomness, settings and the answers of the network are the test's.
type Bench struct {
	platform *platform.Platform
	plugin   string // that is installed; empty: none is
	file     string // it lies in
	fresh    *nursery

	mu     sync.Mutex     // of what follows; calls of the plugin ask for it, too
	site   *tenant.Tenant // of the test that runs; nil: none has begun
	caller *identity.Caller
	given  given
}

// Open makes a bench in a folder that is made for it, with so many sites made
// ahead of the tests.
func Open(ctx context.Context, in *installation.Installation, ahead int, log *slog.Logger) (_ *Bench, err error) {
	dir, err := benchFolder()
	if err != nil {
		return nil, err
	}
	own := in.Apart(dir)
	b := &Bench{}
	b.platform, err = platform.Open(ctx, own, log, platform.Options{Idle: -1, Test: b, Cache: Cache()})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err = os.MkdirAll(own.Layout().Plugins(), 0o700); err == nil {
		err = b.platform.Start(ctx)
	}
	if err != nil {
		b.platform.Close()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b.fresh = raise(b.platform.Set, ahead)
	return b, nil
}

// benchFolder is where the data of a bench is: in memory, where the system has
// folders there.
func benchFolder() (string, error) {
	if dir, err := os.MkdirTemp("/dev/shm", "armature-test-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "armature-test-")
}

func (b *Bench) Close() {
	b.fresh.close()
	b.platform.Close()
	if err := os.RemoveAll(b.platform.Guests.Layout.Data); err != nil {
		b.platform.Log.Error("remove the sites of the tests", "error", err)
	}
}

// Install has a plugin be the one that is tested, from the next site on.
func (b *Bench) Install(ctx context.Context, whole []byte, pl *bundle.Bundle) error {
	g := b.platform.Guests
	file := filepath.Join(g.Layout.Plugins(), pl.Manifest.Name+".wasm")
	if err := b.Remove(file); err != nil {
		return err
	}
	// Tried first: what does not load is said, and not only logged.
	tried, err := g.Shared().Check(ctx, file, pl)
	if err != nil {
		return err
	}
	defer tried.Close()
	if err := outfile.Replace(file, whole); err != nil {
		return err
	}
	b.plugin, b.file = pl.Manifest.Name, file
	return g.Shared().LoadFrom(ctx, file, func() (*bundle.Bundle, error) { return pl, nil })
}

// Remove takes away the plugin that is installed, unless it is in a file.
func (b *Bench) Remove(file string) error {
	if b.file == "" || b.file == file {
		return nil
	}
	old := b.file
	b.plugin, b.file = "", ""
	b.platform.Guests.Shared().Unload(old)
	return os.Remove(old)
}

// Begin begins a site of its own for a test.
func (b *Bench) Begin(ctx context.Context) error {
	b.mu.Lock()
	b.given = given{}
	old := b.site
	b.site = nil
	b.mu.Unlock()
	if old != nil {
		b.fresh.over(old)
	}
	t, err := b.fresh.next(ctx)
	if err != nil {
		return err
	}
	if b.plugin != "" {
		if err := b.put(ctx, t); err != nil {
			return err
		}
	}
	root, err := t.Auth.Caller(ctx, identity.Administrator)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.site, b.caller = t, root
	b.mu.Unlock()
	return nil
}

// put has the plugin serve on a site, with all that it asks for.
func (b *Bench) put(ctx context.Context, t *tenant.Tenant) error {
	b.platform.Guests.Site(t.Site.Name).Refresh(ctx)
	grants, found, err := b.platform.Waiting(ctx, t.Site.Name, b.plugin)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%s is not there", b.plugin)
	case len(grants) == 0:
		return nil
	}
	return b.platform.Approve(ctx, t.Site.Name, b.plugin, grants)
}

// Now is the clock of all of it.
func (b *Bench) Now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given.at != nil {
		return *b.given.at
	}
	return time.Now()
}

// Read makes the bench the source of random bytes.
func (b *Bench) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given.random == nil {
		b.given.random = rand.NewChaCha8([32]byte{})
	}
	return b.given.random.Read(p)
}

// Answer is what the test asks of the host.
func (b *Bench) Answer(ctx context.Context, module, name string, request []byte) ([]byte, error) {
	if module == abi.TestModule {
		return b.control(ctx, name, request)
	}
	if name == abi.MethodCall {
		return b.methodCall(ctx, request)
	}
	return b.perform(ctx, name, request)
}

var _ testrun.Site = (*Bench)(nil)

// Cache is where the interpreter is kept compiled for the next run of tests:
// with the user's other caches, since there need not be a data folder. Without one
// it is compiled every time.
func Cache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "armature")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	f, err := os.CreateTemp(dir, "writable-*")
	if err != nil {
		return ""
	}
	if errors.Join(f.Close(), os.Remove(f.Name())) != nil {
		return ""
	}
	return dir
}
