package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// codeCache is the folder of compiled code. The runtime writes and reads files
// there whose names only it knows, and believes much of what is in them: a changed
// count has it reserve gigabytes or jump into the middle of a function. So beside
// them lies, for every module, a note of the files that its compilation has written
// and of their hashes; what is not as noted is thrown away before the runtime can
// read it, and so is what no note knows.
type codeCache struct {
	dir string
	log *slog.Logger
	mu  sync.Mutex // of the files
}

// note is what was written when a module was compiled: hashes by the path in the
// folder.
type note map[string]string

const noteEnd = ".note"

// openCodeCache makes the folder, or makes it anew where something else is in its
// place.
func openCodeCache(dir string, log *slog.Logger) (*codeCache, wazero.CompilationCache, error) {
	c := &codeCache{dir: dir, log: log}
	files, err := c.open()
	if err != nil {
		log.Warn("the cache of compiled code cannot be used and is made anew", "folder", dir, "error", err)
		if err := os.RemoveAll(dir); err != nil {
			return nil, nil, err
		}
		files, err = c.open()
	}
	return c, files, err
}

func (c *codeCache) open() (wazero.CompilationCache, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	probe, err := os.CreateTemp(c.dir, "writable-*")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, err
	}
	c.sweepBegun()
	if err := c.sweep(); err != nil {
		return nil, err
	}
	return wazero.NewCompilationCacheWithDir(c.dir)
}

// compile compiles a module by way of the cache.
func (c *codeCache) compile(ctx context.Context, rt wazero.Runtime, binary []byte) (wazero.CompiledModule, error) {
	before, err := c.check(binary)
	if err != nil {
		c.log.Warn("look through the cache of compiled code", "error", err)
	}
	compiled, err := rt.CompileModule(ctx, binary)
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "compilationcache"): // damaged since it was checked
		c.log.Warn("the cache of compiled code is damaged and is emptied", "error", err)
		c.empty()
		compiled, err = rt.CompileModule(ctx, binary)
	case ofFile(err): // it is compiled, and could not be written
		c.log.Warn("compiled code cannot be kept", "error", err)
		compiled, err = rt.CompileModule(ctx, binary)
	}
	if err == nil {
		if nerr := c.keep(binary, before); nerr != nil {
			c.log.Warn("compiled code cannot be kept", "error", nerr)
		}
	}
	return compiled, err
}

// ofFile reports whether an error is one of the file system.
func ofFile(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link)
}

func (c *codeCache) notePath(binary []byte) string {
	sum := sha256.Sum256(binary)
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+noteEnd)
}

// check throws away what is damaged of a module's files, and lists all files.
func (c *codeCache) check(binary []byte) (before []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := c.notePath(binary)
	n, err := readNote(path)
	if err != nil {
		// Which files are the module's nobody knows: those of no other are.
		if !errors.Is(err, fs.ErrNotExist) {
			c.log.Warn("a note in the cache of compiled code is damaged", "error", err)
			err = os.Remove(path)
		}
		return c.files(), errors.Join(ignoreMissing(err), c.sweep())
	}
	for name, sum := range n {
		file := filepath.Join(c.dir, name)
		got, err := hashFile(file)
		if got == sum || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c.log.Warn("a file in the cache of compiled code is damaged and is thrown away", "file", file)
		if err := ignoreMissing(os.RemoveAll(file)); err != nil {
			return nil, err
		}
	}
	return c.files(), nil
}

// keep notes the files that the compilation of a module has written. Those of
// others that were compiled meanwhile may be among them.
func (c *codeCache) keep(binary []byte, before []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := c.notePath(binary)
	n, err := readNote(path)
	if err != nil {
		n = note{}
	}
	for name := range n { // what it knew and is not there any more
		if _, err := os.Stat(filepath.Join(c.dir, name)); err != nil {
			delete(n, name)
		}
	}
	written := false
	for _, name := range c.files() {
		if slices.Contains(before, name) || n[name] != "" {
			continue
		}
		if n[name], err = hashFile(filepath.Join(c.dir, name)); err != nil {
			return err
		}
		written = true
	}
	if !written {
		return nil
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return writeNote(path, text)
}

// sweep removes the files that no note knows: nobody could tell whether they are
// as they were written.
func (c *codeCache) sweep() error {
	notes, err := filepath.Glob(filepath.Join(c.dir, "*"+noteEnd))
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, path := range notes {
		n, err := readNote(path)
		if err != nil {
			if err := ignoreMissing(os.RemoveAll(path)); err != nil {
				return err
			}
		}
		for name := range n {
			known[name] = true
		}
	}
	for _, name := range c.files() {
		if !known[name] {
			if err := ignoreMissing(os.RemoveAll(filepath.Join(c.dir, name))); err != nil {
				return err
			}
		}
	}
	return nil
}

// abandoned is how old a file is that was begun and never finished.
const abandoned = time.Hour

// sweepBegun removes what processes that were killed were writing.
func (c *codeCache) sweepBegun() {
	for _, pattern := range []string{"note-*", "writable-*", filepath.Join("*", "*.tmp")} {
		paths, _ := filepath.Glob(filepath.Join(c.dir, pattern))
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > abandoned {
				_ = os.Remove(path)
			}
		}
	}
}

// empty throws everything away.
func (c *codeCache) empty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.files() {
		_ = os.RemoveAll(filepath.Join(c.dir, name))
	}
}

// files lists the runtime's files, which lie in a folder named by its version, but
// for those that are being written.
func (c *codeCache) files() (names []string) {
	paths, _ := filepath.Glob(filepath.Join(c.dir, "*", "*"))
	for _, path := range paths {
		if !strings.HasSuffix(path, ".tmp") {
			names = append(names, strings.TrimPrefix(path, c.dir+string(filepath.Separator)))
		}
	}
	return names
}

func readNote(path string) (n note, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(n) == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	for name := range n {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s names %q", path, name)
		}
	}
	return n, nil
}

// writeNote writes a note in one step. It is not synced: one that is lost with the
// power costs a compilation.
func writeNote(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "note-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // where it was not renamed
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
