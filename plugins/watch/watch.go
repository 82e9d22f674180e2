// Package watch keeps what serves equal to what lies in folders.
//
// Putting a bundle into a folder, replacing or removing it is enough. A file
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
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Loader is what is told about a folder. *loader.Sources satisfies it.
type Loader interface {
	// Load loads the bundle at a path; it logs what is wrong with one.
	Load(ctx context.Context, path string) error
	// Unload retires what was loaded from a path.
	Unload(path string)
}

// Config is how a Watcher looks. All may be left out.
type Config struct {
	Logger *slog.Logger
	Settle time.Duration // how long a file must not change before it is read; default 100 ms
	Rescan time.Duration // how often to look without a notice; default 30 s
}

func (c Config) withDefaults() Config {
	if c.Settle <= 0 {
		c.Settle = 100 * time.Millisecond
	}
	if c.Rescan <= 0 {
		c.Rescan = 30 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Watcher follows any number of folders, of all sites of a process, until Close: with
// one goroutine and one source of notices, of which a system has few. A folder is looked at by a goroutine of its own, which ends
// with the look: loading may take long.
type Watcher struct {
	cfg     Config
	notices *fsnotify.Watcher
	ctx     context.Context
	cancel  context.CancelFunc
	again   chan struct{} // wakes run: some folder is due
	work    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	folders map[*Folder]struct{}
	dirs    map[string]*Folder // with notices: a folder, and the directories in it
	told    map[string]func()  // by directory
}

// Folder is one folder that is followed, until Close. The watcher's lock guards all
// but what was found in it.
type Folder struct {
	w       *Watcher
	content *content
	look    sync.Mutex // held while the folder is looked at

	dirs   []string
	due    time.Time // when to look; zero: nothing is known to have changed
	busy   bool      // it is being looked at
	gone   bool
	doubts []string // files there was a notice about
}

// New makes a watcher that follows nothing yet.
func New(cfg Config) (*Watcher, error) {
	notices, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch plugins: %w", err)
	}
	w := &Watcher{
		cfg: cfg.withDefaults(), notices: notices, again: make(chan struct{}, 1),
		folders: map[*Folder]struct{}{}, dirs: map[string]*Folder{}, told: map[string]func(){},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.work.Go(w.run)
	return w, nil
}

// Follow has l load what is in a folder, which is made if it is missing, and follows
// it until the Folder is closed. Bundles that cannot be loaded are no error.
func (w *Watcher) Follow(ctx context.Context, l Loader, dir string) (*Folder, error) {
	dir = filepath.Clean(dir) // as notices name what is in it
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("watch plugins: %w", err)
	}
	f := &Folder{w: w, content: newContent(l, w.cfg.Logger, dir)}
	f.look.Lock()
	defer f.look.Unlock()
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, errors.New("watch plugins: the watcher is closed")
	}
	w.folders[f] = struct{}{}
	f.busy = true
	w.mu.Unlock()
	// Notices first: what changes during the first look is then seen again.
	w.attend(f)
	f.content.loadAll(ctx)
	w.looked(f, true) // it may have met a half-written file
	return f, nil
}

// Close leaves the folder alone and waits until nobody looks at it any more. What was
// loaded goes on serving.
func (f *Folder) Close() {
	w := f.w
	w.mu.Lock()
	delete(w.folders, f)
	f.gone = true
	for _, dir := range f.dirs {
		w.unattend(dir, f)
	}
	w.mu.Unlock()
	f.look.Lock()
	defer f.look.Unlock() //nolint:staticcheck // an empty section: it waits
}

// Tell has fn called whenever something comes, goes or changes directly in a
// directory, which must exist. fn must not block.
func (w *Watcher) Tell(dir string, fn func()) {
	dir = filepath.Clean(dir)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[dir] = fn
	w.add(dir)
}

// Close ends the watcher and waits for it. What was loaded goes on serving.
func (w *Watcher) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.work.Wait()
	_ = w.notices.Close()
}

func (w *Watcher) run() {
	rescan := time.NewTicker(w.cfg.Rescan)
	defer rescan.Stop()
	timer := time.NewTimer(w.cfg.Rescan)
	defer timer.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case notice, ok := <-w.notices.Events:
			if !ok {
				return
			}
			if notice.Op != fsnotify.Chmod {
				w.notice(notice.Name)
			}
		case err, ok := <-w.notices.Errors:
			if !ok {
				return
			}
			w.cfg.Logger.Warn("notices about plugin folders were lost", "error", err)
			w.all(w.cfg.Settle)
		case <-rescan.C:
			w.all(0)
		case <-w.again:
		case <-timer.C:
		}
		if next, some := w.lookAtDue(); some {
			timer.Reset(next)
		}
	}
}

// notice has a folder looked at when no more notices have come for a while: they
// come in bursts.
func (w *Watcher) notice(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, dir := range []string{filepath.Dir(name), name} {
		if fn := w.told[dir]; fn != nil {
			fn()
		}
		if f := w.dirs[dir]; f != nil {
			f.doubts = append(f.doubts, name)
			f.due = time.Now().Add(w.cfg.Settle)
			return
		}
	}
}

// all has every folder looked at.
func (w *Watcher) all(in time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.folders {
		f.due = time.Now().Add(in)
	}
}

// lookAtDue starts looking at what is due and says when something will be next.
func (w *Watcher) lookAtDue() (next time.Duration, some bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for f := range w.folders {
		if f.due.IsZero() || f.busy {
			continue
		}
		if wait := f.due.Sub(now); wait > 0 {
			if !some || wait < next {
				next, some = wait, true
			}
			continue
		}
		f.busy, f.due = true, time.Time{}
		w.work.Go(func() { w.lookAt(f) })
	}
	return next, some
}

func (w *Watcher) lookAt(f *Folder) {
	f.look.Lock()
	defer f.look.Unlock()
	w.mu.Lock()
	gone, doubts := f.gone, f.doubts
	f.doubts = nil
	w.mu.Unlock()
	if gone {
		return
	}
	w.attend(f)
	for _, file := range doubts {
		f.content.doubt(file)
	}
	w.looked(f, f.content.look(w.ctx))
}

// looked ends a look; changing says that another one has to follow.
func (w *Watcher) looked(f *Folder, changing bool) {
	w.mu.Lock()
	f.busy = false
	if settled := time.Now().Add(w.cfg.Settle); changing && f.due.Before(settled) {
		f.due = settled
	}
	w.mu.Unlock()
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// attend asks for notices about a folder and about the directories in it, which
// may be bundles. A directory that is gone needs no notices.
func (w *Watcher) attend(f *Folder) {
	dirs := append([]string{f.content.dir}, f.content.directories()...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.gone {
		return
	}
	now := map[string]bool{}
	for i, dir := range dirs {
		now[dir] = true
		if w.dirs[dir] == f && i > 0 {
			continue
		}
		// The folder itself is asked for every time: it may have been replaced by
		// another one of the same name.
		w.dirs[dir] = f
		w.add(dir)
	}
	for _, dir := range f.dirs {
		if !now[dir] {
			w.unattend(dir, f)
		}
	}
	f.dirs = dirs
}

func (w *Watcher) add(dir string) {
	if err := w.notices.Add(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		w.cfg.Logger.Warn("no notices about a folder; it is looked at now and then", "dir", dir, "error", err)
	}
}

func (w *Watcher) unattend(dir string, f *Folder) {
	if w.dirs[dir] != f {
		return
	}
	delete(w.dirs, dir)
	if w.told[dir] == nil {
		_ = w.notices.Remove(dir) // the system has done it where the directory is gone
	}
}
