package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"armature/core/identity"
	"armature/core/site"
	"armature/core/sites"
	"armature/plugins/bundle"
	"armature/plugins/installed"
	"armature/plugins/registry"
	"armature/plugins/testrun"
	"armature/runtime/abi"
)

// bench is where the tests of a plugin run: the platform as a server has it, with
// the plugin in the folder of plugins, on sites that last as long as one test. The
// time, randomness, settings and the answers of the network are the test's.
type bench struct {
	p      *platform
	plugin string // that is installed; empty: none is
	file   string // it lies in
	fresh  *nursery

	mu     sync.Mutex    // of what follows; calls of the plugin ask for it, too
	site   *sites.Tenant // of the test that runs; nil: none has begun
	caller *identity.Caller
	given  given
}

// openBench makes a bench in a folder that is made for it, with so many sites made
// ahead of the tests.
func (a *app) openBench(ctx context.Context, ahead int, log *slog.Logger) (_ *bench, err error) {
	dir, err := benchFolder()
	if err != nil {
		return nil, err
	}
	own := *a
	own.data, own.database, own.redis, own.site = dir, "", "", site.Default
	own.stderr = io.Discard // nobody needs the passwords
	b := &bench{}
	b.p, err = own.openPlatform(ctx, log, guestOptions{idle: -1, bench: b, cache: testCache()})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err = os.MkdirAll(own.layout().Plugins(), 0o700); err == nil {
		err = b.p.start(ctx)
	}
	if err != nil {
		b.p.close()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b.fresh = raise(b.p.set, ahead)
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

func (b *bench) close() {
	b.fresh.close()
	b.p.close()
	if err := os.RemoveAll(b.p.guests.layout.Data); err != nil {
		b.p.log.Error("remove the sites of the tests", "error", err)
	}
}

// install has a plugin be the one that is tested, from the next site on.
func (b *bench) install(ctx context.Context, whole []byte, pl *bundle.Bundle) error {
	g := b.p.guests
	file := filepath.Join(g.layout.Plugins(), pl.Manifest.Name+".wasm")
	if err := b.remove(file); err != nil {
		return err
	}
	// Tried first: what does not load is said, and not only logged.
	tried, err := g.loader.Check(ctx, file, pl)
	if err != nil {
		return err
	}
	defer tried.Close()
	if err := replaceFile(file, whole); err != nil {
		return err
	}
	b.plugin, b.file = pl.Manifest.Name, file
	return g.loader.LoadFrom(ctx, registry.Shared, file, func() (*bundle.Bundle, error) { return pl, nil })
}

// remove takes away the plugin that is installed, unless it is in a file.
func (b *bench) remove(file string) error {
	if b.file == "" || b.file == file {
		return nil
	}
	old := b.file
	b.plugin, b.file = "", ""
	b.p.guests.loader.Unload(registry.Shared, old)
	return os.Remove(old)
}

// Begin begins a site of its own for a test.
func (b *bench) Begin(ctx context.Context) error {
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
func (b *bench) put(ctx context.Context, t *sites.Tenant) error {
	b.p.guests.installed.SyncSite(ctx, t.Site.Name)
	st := &ownStage{p: b.p, site: t.Site.Name}
	var list []installed.Entry
	if err := st.manage(ctx, "list", map[string]any{"plugin": b.plugin}, &list); err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("%s is not there", b.plugin)
	}
	_, err := st.approve(ctx, b.plugin)
	return err
}

// Now is the clock of all of it.
func (b *bench) Now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given.at != nil {
		return *b.given.at
	}
	return time.Now()
}

// Read makes the bench the source of random bytes.
func (b *bench) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given.random == nil {
		b.given.random = rand.NewChaCha8([32]byte{})
	}
	return b.given.random.Read(p)
}

// Answer is what the test asks of the host.
func (b *bench) Answer(ctx context.Context, module, name string, request []byte) ([]byte, error) {
	if module == abi.TestModule {
		return b.control(ctx, name, request)
	}
	if name == abi.MethodCall {
		return b.methodCall(ctx, request)
	}
	return b.perform(ctx, name, request)
}

var _ testrun.Site = (*bench)(nil)
