// Package watch keeps what serves equal to what lies in a folder.
//
// Putting a bundle into the folder, replacing or removing it is enough. A file
// that is being written is left alone until it has stopped changing; one that
// cannot be loaded leaves the old version serving and is tried again when it
// changes. The system's notices say when to look; a full look now and then
// covers those it loses.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Loader is what a Watcher tells about its folder. plugins/loader satisfies it.
type Loader interface {
	// Load loads the bundle at a path; it logs what is wrong with one.
	Load(ctx context.Context, scope, path string) error
	// Unload retires what was loaded from a path.
	Unload(scope, path string)
}

// Config is what a Watcher needs.
type Config struct {
	Dir    string // made if it is missing
	Scope  string // of the plugins in it: a site, or registry.Shared
	Loader Loader
	Logger *slog.Logger

	Settle time.Duration // how long a file must not change before it is read; default 100 ms
	Rescan time.Duration // how often to look without a notice; default 30 s

	// After makes the timers; nil: time.After.
	After func(time.Duration) <-chan time.Time
}

func (c Config) withDefaults() Config {
	if c.Settle <= 0 {
		c.Settle = 100 * time.Millisecond
	}
	if c.Rescan <= 0 {
		c.Rescan = 30 * time.Second
	}
	if c.After == nil {
		c.After = time.After
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Watcher follows one folder until Close. One goroutine owns everything in it.
type Watcher struct {
	cfg     Config
	folder  *folder
	notices *fsnotify.Watcher
	watched map[string]bool // directories with notices
	cancel  context.CancelFunc
	done    chan struct{}
}

// Start loads what is in the folder and then follows it. Bundles that cannot be
// loaded are no error.
func Start(ctx context.Context, cfg Config) (*Watcher, error) {
	cfg = cfg.withDefaults()
	cfg.Dir = filepath.Clean(cfg.Dir) // as notices name what is in it
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("watch plugins: %w", err)
	}
	notices, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch plugins: %w", err)
	}
	w := &Watcher{
		cfg: cfg, folder: newFolder(cfg), notices: notices,
		watched: map[string]bool{}, done: make(chan struct{}),
	}
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	// Notices first: what changes during the first look is then seen again.
	w.follow()
	w.folder.loadAll(ctx)
	go w.run(ctx)
	return w, nil
}

// Close ends the watcher and waits for it. What was loaded goes on serving.
func (w *Watcher) Close() {
	w.cancel()
	<-w.done
}

func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	defer w.notices.Close()
	settle := w.cfg.After(w.cfg.Settle) // the first look may have met a half-written file
	rescan := w.cfg.After(w.cfg.Rescan)
	for {
		select {
		case <-ctx.Done():
			return
		case notice, ok := <-w.notices.Events:
			if !ok {
				return
			}
			if notice.Op == fsnotify.Chmod {
				continue
			}
			w.folder.doubt(notice.Name)
			// Notices come in bursts: look when none has come for a while.
			settle = w.cfg.After(w.cfg.Settle)
		case err, ok := <-w.notices.Errors:
			if !ok {
				return
			}
			w.cfg.Logger.Warn("notices about the plugin folder were lost", "dir", w.cfg.Dir, "error", err)
			settle = w.cfg.After(w.cfg.Settle)
		case <-settle:
			settle = nil
			if w.look(ctx) {
				settle = w.cfg.After(w.cfg.Settle)
			}
		case <-rescan:
			rescan = w.cfg.After(w.cfg.Rescan)
			if w.look(ctx) {
				settle = w.cfg.After(w.cfg.Settle)
			}
		}
	}
}

// look compares the folder with what is loaded and reports whether something in
// it is still changing.
func (w *Watcher) look(ctx context.Context) (changing bool) {
	w.follow()
	return w.folder.look(ctx)
}

// follow asks for notices about the folder and about the directories in it,
// which may be bundles. A directory that is gone needs no notices.
func (w *Watcher) follow() {
	dirs := map[string]bool{w.cfg.Dir: true}
	for _, dir := range w.folder.directories() {
		dirs[dir] = true
	}
	for dir := range dirs {
		if w.watched[dir] && dir != w.cfg.Dir {
			continue
		}
		// The folder itself is asked for every time: it may have been replaced
		// by another one of the same name.
		if err := w.notices.Add(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			w.cfg.Logger.Warn("no notices about a plugin folder; it is looked at now and then", "dir", dir, "error", err)
		}
	}
	w.watched = dirs
}
