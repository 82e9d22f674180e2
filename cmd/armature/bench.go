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

	"armature/core/host"
	"armature/core/identity"
	"armature/core/site"
	"armature/plugins/ledger"
	"armature/runtime/abi"
	"armature/runtime/hostapi"
)

// bench is where the tests of a plugin run: the platform as a server has it, with
// the plugin in the folder of plugins, on sites that last as long as one test. The
// time, randomness, settings and the answers of the network are the test's.
type bench struct {
	p      *platform
	plugin string // its name

	mu     sync.Mutex // of what follows; calls of the plugin ask for it, too
	serial int
	site   *host.Tenant // of the test that runs; nil: none has begun
	caller *identity.Caller
	given  given
}

// openBench makes a bench in an empty folder, for the plugin in the file.
func (a *app) openBench(ctx context.Context, dir, file, plugin string, log *slog.Logger) (_ *bench, err error) {
	own := *a
	own.data, own.database, own.redis, own.site = filepath.Join(dir, "data"), "", "", site.Default
	own.stderr = io.Discard // nobody needs the passwords
	b := &bench{plugin: plugin}
	if b.p, err = own.openPlatform(ctx, log, guestOptions{idle: -1, bench: b, cache: testCache()}); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err == nil {
		if err = os.MkdirAll(own.layout().Plugins(), 0o700); err == nil {
			err = os.WriteFile(filepath.Join(own.layout().Plugins(), plugin+".wasm"), text, 0o600)
		}
	}
	if err == nil {
		err = b.p.start(ctx)
	}
	if err != nil {
		b.p.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() { b.p.close() }

// fresh begins a site of its own for a test.
func (b *bench) fresh(ctx context.Context) error {
	b.mu.Lock()
	b.given = given{}
	b.serial++
	name, old := fmt.Sprintf("test-%d", b.serial), b.site
	b.site = nil
	b.mu.Unlock()
	if old != nil {
		b.p.set.Close(old.Site.Name)
	}
	t, err := b.p.set.Create(ctx, name)
	if err != nil {
		return err
	}
	b.p.guests.ledger.SyncSite(ctx, name)
	st := &ownStage{p: b.p, site: name}
	var list []ledger.Entry
	if err := st.manage(ctx, "list", map[string]any{"plugin": b.plugin}, &list); err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("the plugin is not on its test's site")
	}
	if _, err := st.approve(ctx, b.plugin); err != nil {
		return err
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

// now is the clock of all of it.
func (b *bench) now() time.Time {
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

// answer is what the test asks of the host.
func (b *bench) answer(ctx context.Context, module, name string, request []byte) ([]byte, error) {
	if module == abi.TestModule {
		return b.control(ctx, name, request)
	}
	if name == abi.MethodCall {
		return b.methodCall(ctx, request)
	}
	return b.perform(ctx, name, request)
}

var _ hostapi.Answerer = (*bench)(nil).answer
