package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"armature/plugins/bundle"
)

// content compares a folder with what has been loaded from it. It knows no clock
// and no notices: looking is all it does.
type content struct {
	dir        string
	loader     Loader
	log        *slog.Logger
	known      map[string]*known // by path
	unreadable bool              // the last look could not read the folder
}

// known is one bundle as the last look left it.
type known struct {
	seen   fingerprint // what the last look saw
	loaded fingerprint // what was handed to the loader; empty: nothing yet
	failed bool        // and whether that was in vain
	doubt  bool        // there was a notice about it: it may differ all the same
}

// fingerprint tells most states of a bundle's files apart without reading them.
type fingerprint string

func newContent(l Loader, log *slog.Logger, dir string) *content {
	return &content{dir: dir, loader: l, log: log, known: map[string]*known{}}
}

// loadAll loads everything as it lies there.
func (f *content) loadAll(ctx context.Context) {
	f.look(ctx) // sees
	f.look(ctx) // and loads what has not changed since
}

// look unloads what is gone, loads what is new or different and has not changed
// since the last look, and reports whether something has. The loader is asked
// again about what it refused after anything else in the folder came or went: a
// refusal may be about two plugins that cannot be there together.
func (f *content) look(ctx context.Context) (changing bool) {
	present, err := f.fingerprints()
	if err != nil {
		// What cannot be read now was not removed by anybody.
		if !f.unreadable {
			f.log.Error("the plugin folder cannot be read; its plugins go on serving", "dir", f.dir, "error", err)
		}
		f.unreadable = true
		return false
	}
	f.unreadable = false
	changed := f.unloadAbsent(present)
	for _, path := range slices.Sorted(maps.Keys(present)) {
		k := f.known[path]
		if k == nil {
			k = &known{}
			f.known[path] = k
		}
		stable := k.seen == present[path]
		k.seen = present[path]
		switch {
		case !stable:
			changing = true
		case k.seen != k.loaded, k.doubt:
			f.load(ctx, path, k)
			changed = changed || !k.failed
		}
	}
	if changed {
		f.retry(ctx)
	}
	return changing
}

func (f *content) unloadAbsent(present map[string]fingerprint) (changed bool) {
	for path, k := range f.known {
		if _, ok := present[path]; ok {
			continue
		}
		if k.loaded != "" {
			f.loader.Unload(path)
			changed = true
		}
		delete(f.known, path)
	}
	return changed
}

// doubt has the next look load a bundle even if its files look the same: a copy
// can keep the time, and another build the size. The loader compares contents.
func (f *content) doubt(file string) {
	rest, ok := strings.CutPrefix(file, f.dir+string(filepath.Separator))
	if !ok {
		return
	}
	entry, _, _ := strings.Cut(rest, string(filepath.Separator))
	if k := f.known[filepath.Join(f.dir, entry)]; k != nil {
		k.doubt = true
	}
}

func (f *content) load(ctx context.Context, path string, k *known) {
	k.loaded, k.doubt = k.seen, false
	k.failed = f.loader.Load(ctx, path) != nil // the loader has logged it
}

// retry asks again about what was refused.
func (f *content) retry(ctx context.Context) {
	for _, path := range slices.Sorted(maps.Keys(f.known)) {
		if k := f.known[path]; k.failed && k.seen == k.loaded {
			f.load(ctx, path, k)
		}
	}
}

// prints lists the bundles of the folder. A folder that does not exist is an
// empty one.
func (f *content) fingerprints() (map[string]fingerprint, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	present := map[string]fingerprint{}
	for _, e := range entries {
		path := filepath.Join(f.dir, e.Name())
		if bundle.IsBundle(path) {
			present[path] = fingerprintOf(path)
		}
	}
	return present, nil
}

// fingerprintOf is made of the names, sizes and times of a bundle's files. What is
// wrong with the files is the loader's to say; here it only has to differ.
func fingerprintOf(path string) fingerprint {
	files, err := bundle.Files(path)
	if err != nil {
		return fingerprint("error: " + err.Error())
	}
	var b strings.Builder
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			fmt.Fprintln(&b, file, err)
			continue
		}
		fmt.Fprintln(&b, file, info.Size(), info.ModTime().UnixNano())
	}
	return fingerprint(b.String())
}

// directories lists the directories in the folder, and those in them that belong
// to a bundle.
func (f *content) directories() []string {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil // look says so
	}
	var dirs []string
	for _, e := range entries {
		path := filepath.Join(f.dir, e.Name())
		if !e.IsDir() && !isDirLink(path, e) {
			continue
		}
		dirs = append(dirs, bundle.Folders(path)...)
	}
	return dirs
}

func isDirLink(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
