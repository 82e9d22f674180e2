package watch

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TreeConfig is what a Tree needs.
type TreeConfig struct {
	// Skip says which files and folders, by their path inside the tree, are no
	// sources; hidden ones, those of node_modules and what editors leave for a
	// moment never are.
	Skip func(name string) bool

	Settle time.Duration // how long nothing must happen before a look; default 30 ms
	Rescan time.Duration // how often to look without a notice; default 2 s
}

// maxSettle bounds how long a tree in which something happens all the time is
// left unseen, as a multiple of Settle.
const maxSettle = 20

// Tree follows the sources below a folder until Close. It tells of a change once,
// when it is over: an editor that writes a file three times, or another one in its
// place, has saved once, and a file that was touched has not changed.
type Tree struct {
	dir     string
	cfg     TreeConfig
	notices *fsnotify.Watcher
	changed chan struct{}
	stop    chan struct{}
	work    sync.WaitGroup

	files map[string]source
	last  string
}

// source is a file as the last look left it.
type source struct {
	size int64
	time time.Time
	sum  [sha256.Size]byte
}

// FollowTree begins to follow a folder.
func FollowTree(dir string, cfg TreeConfig) (*Tree, error) {
	if cfg.Settle <= 0 {
		cfg.Settle = 30 * time.Millisecond
	}
	if cfg.Rescan <= 0 {
		cfg.Rescan = 2 * time.Second
	}
	notices, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	t := &Tree{
		dir: filepath.Clean(dir), cfg: cfg, notices: notices,
		changed: make(chan struct{}, 1), stop: make(chan struct{}), files: map[string]source{},
	}
	t.last, err = t.look()
	if err != nil {
		_ = notices.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	t.work.Go(t.run)
	return t, nil
}

// Changed has a value when something has changed since the last one was taken.
func (t *Tree) Changed() <-chan struct{} { return t.changed }

// Close ends the tree and waits for it.
func (t *Tree) Close() {
	close(t.stop)
	t.work.Wait()
	_ = t.notices.Close()
}

func (t *Tree) run() {
	rescan := time.NewTicker(t.cfg.Rescan)
	defer rescan.Stop()
	settled := time.NewTimer(0)
	defer settled.Stop()
	var first time.Time // of the notices since the last look
	for {
		select {
		case <-t.stop:
			return
		case notice, ok := <-t.notices.Events:
			if !ok {
				return
			}
			if notice.Op == fsnotify.Chmod || t.skips(notice.Name) {
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			if now.Sub(first) < maxSettle*t.cfg.Settle {
				settled.Reset(t.cfg.Settle)
			}
		case <-t.notices.Errors: // some were lost; the rescan makes up for them
		case <-rescan.C:
			if first.IsZero() {
				t.compare()
			}
		case <-settled.C:
			first = time.Time{}
			t.compare()
		}
	}
}

// compare tells when the sources are others than at the last look.
func (t *Tree) compare() {
	now, err := t.look()
	if err != nil || now == t.last {
		return // what cannot be read now was not changed by anybody
	}
	t.last = now
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// look reads what has another size or time than before, asks for notices about
// every folder, and returns what tells the state of the sources from any other.
func (t *Tree) look() (string, error) {
	var b strings.Builder
	seen := map[string]bool{}
	err := filepath.WalkDir(t.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path != t.dir && errors.Is(err, fs.ErrNotExist):
			return nil // it went meanwhile
		case err != nil:
			return err
		case path != t.dir && t.skips(path):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			_ = t.notices.Add(path) // without notices there is the rescan
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		if err := t.read(path, d); err == nil {
			seen[path] = true
			fmt.Fprintf(&b, "%s\x00%x\n", path, t.files[path].sum)
		}
		return nil
	})
	for path := range t.files {
		if !seen[path] {
			delete(t.files, path)
		}
	}
	return b.String(), err
}

// maxSource is how large a file is compared by its contents; a larger one is told
// by its size and time.
const maxSource = 8 << 20

func (t *Tree) read(path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	old, known := t.files[path]
	if known && old.size == info.Size() && old.time.Equal(info.ModTime()) {
		return nil
	}
	now := source{size: info.Size(), time: info.ModTime()}
	if info.Size() > maxSource {
		now.sum = sha256.Sum256(fmt.Append(nil, now.size, now.time))
	} else {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		now.sum = sha256.Sum256(text)
	}
	t.files[path] = now
	return nil
}

func (t *Tree) skips(path string) bool {
	rel, err := filepath.Rel(t.dir, path)
	if err != nil || rel == "." {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if transient(part) || part == "node_modules" {
			return true
		}
	}
	return t.cfg.Skip != nil && t.cfg.Skip(rel)
}

// transient reports whether a name is one under which editors keep something for
// a moment: hidden files, backups, and the number by which Vim tries out a folder.
func transient(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || name == "4913" ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") || strings.HasSuffix(name, ".tmp")
}
