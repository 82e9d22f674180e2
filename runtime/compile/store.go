package compile

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
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"armature/runtime/internal/rewrite"
)

// store keeps compiled code in a folder, and has the runtime load it from there.
//
// The runtime reads files whose names only it knows, and believes much of what is in
// them: a changed count has it reserve gigabytes or jump into the middle of a function.
// So beside the code of a module lies a note of the names and hashes of its files, and
// what is not as noted is thrown away before the runtime can read it. The folder in
// which the runtime looks has the files of a module only while that is loaded.
type store struct {
	dir     string // of the files that are kept
	own     bool   // it ends with the store
	live    string // where the runtime looks
	version string // what it calls the folder in there
	log     *slog.Logger

	cache   wazero.CompilationCache
	runtime wazero.Runtime
	mu      sync.Mutex // of what is noted
}

// note says what is kept of a module: hashes by the path that the runtime knows it by.
// There are several where processors with different features use the same folder.
type note map[string]string

const (
	noteEnd   = ".note"
	codeEnd   = ".code"
	liveBegin = "live-"
	madeBegin = "made-"
)

// maxVariants is how many files of one module are kept.
const maxVariants = 8

// abandoned is how old a file is that was begun and never finished.
const abandoned = time.Hour

// openStore opens the folder, or one of its own that ends with it where that cannot be
// used.
func openStore(ctx context.Context, dir string, log *slog.Logger) (*store, error) {
	s := &store{log: log}
	if dir != "" {
		dir = filepath.Join(dir, fmt.Sprintf("rewrite-%d", rewrite.Version))
		err := s.open(dir)
		if err != nil {
			// Something else is in its place, perhaps; it only ever held copies.
			err = errors.Join(os.RemoveAll(dir), s.open(dir))
		}
		if err != nil {
			log.Warn("compiled code is not kept", "folder", dir, "error", err)
			dir = ""
		}
	}
	if dir == "" {
		if err := s.openTemporary(); err != nil {
			return nil, fmt.Errorf("a folder for compiled code: %w", err)
		}
	}
	s.sweep()
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// open makes the folder, and in it the one that the runtime is shown.
func (s *store) open(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s.dir = dir
	s.live, err = os.MkdirTemp(dir, liveBegin)
	return err
}

// memoryFolder is memory that looks like a folder, on Linux.
const memoryFolder = "/dev/shm"

func (s *store) openTemporary() error {
	dir, err := os.MkdirTemp("", "armature-code-")
	if err != nil {
		var other error
		if dir, other = os.MkdirTemp(memoryFolder, "armature-code-"); other != nil {
			return err
		}
	}
	s.own = true
	return s.open(dir)
}

func (s *store) start(ctx context.Context) (err error) {
	if s.cache, err = wazero.NewCompilationCacheWithDir(s.live); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.live)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%d folders are in that of the runtime", len(entries))
	}
	if err != nil {
		return err
	}
	s.version = entries[0].Name()
	s.runtime = wazero.NewRuntimeWithConfig(ctx, configuration().WithCompilationCache(s.cache))
	return nil
}

func (s *store) close(ctx context.Context) error {
	var errs []error
	if s.runtime != nil {
		errs = append(errs, s.runtime.Close(ctx))
	}
	if s.cache != nil {
		errs = append(errs, s.cache.Close(ctx))
	}
	errs = append(errs, os.RemoveAll(s.live))
	if s.own {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// folder makes an empty folder for a compilation. The caller removes it.
func (s *store) folder() (string, error) { return os.MkdirTemp(s.dir, madeBegin) }

// remove removes a folder of a compilation.
func (s *store) remove(folder string) {
	if err := os.RemoveAll(folder); err != nil {
		s.log.Warn("remove what a compilation has left", "error", err)
	}
}

// take moves what a compilation has made from its folder to what is kept.
func (s *store) take(binary []byte, folder string, made Made) error {
	if dir, name := filepath.Split(made.File); dir != s.version+string(filepath.Separator) || !isHex(name) {
		return fmt.Errorf("compiled code is called %q", made.File)
	}
	from := filepath.Join(folder, made.File)
	if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("compiled code is no file: %w", err)
	}
	sum, err := hashFile(from)
	if err != nil {
		return err
	}
	if sum != made.Sum {
		return errors.New("compiled code is not what was made")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.note(binary)
	if err != nil || len(n) >= maxVariants {
		s.forget(binary)
		n = note{}
	}
	n[made.File] = sum
	to := s.code(binary, made.File)
	_ = os.RemoveAll(to) // what is in its place is not known by any note
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return s.writeNote(binary, n)
}

func isHex(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == sha256.Size
}

// load has the runtime take the code of a module from what is kept; nil if it is not
// there, or not as it was. It never compiles: with a context that has ended the
// runtime's compiler gives up before its first function, where it is told to work
// with several goroutines.
func (s *store) load(binary []byte) (compiled wazero.CompiledModule, err error) {
	n, err := s.note(binary)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.log.Warn("a note about compiled code is damaged", "error", err)
		}
		s.forget(binary)
		return nil, nil
	}
	defer func() { err = errors.Join(err, s.hide(n)) }()
	for file, sum := range n {
		if err := s.show(binary, file, sum); err != nil {
			s.log.Warn("compiled code is damaged and is thrown away", "file", s.code(binary, file), "error", err)
			s.forget(binary)
			return nil, nil
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	compiled, err = s.runtime.CompileModule(experimental.WithCompilationWorkers(ended, 2), binary)
	switch {
	case err == nil:
		return compiled, nil
	case errors.Is(err, context.Canceled): // of another processor
		return nil, nil
	case strings.Contains(err.Error(), "compilationcache"):
		s.log.Warn("compiled code cannot be used and is thrown away", "error", err)
		s.forget(binary)
		return nil, nil
	}
	return nil, err
}

// show puts a file where the runtime looks for it, if it is as noted.
func (s *store) show(binary []byte, file, sum string) error {
	to := filepath.Join(s.live, file)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	from := s.code(binary, file)
	if err := os.Link(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := copyFile(from, to); err != nil {
			return err
		}
	}
	got, err := hashFile(to)
	if err == nil && got != sum {
		err = errors.New("it is not as it was written")
	}
	return err
}

// hide takes files from where the runtime looks.
func (s *store) hide(n note) error {
	var errs []error
	for file := range n {
		if err := os.Remove(filepath.Join(s.live, file)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// compileHere has the runtime compile a module in this process. Nothing is loaded
// meanwhile.
func (s *store) compileHere(ctx context.Context, binary []byte) (wazero.CompiledModule, error) {
	compiled, err := s.runtime.CompileModule(ctx, binary)
	made, _ := filepath.Glob(filepath.Join(s.live, "*", "*"))
	for _, file := range made {
		err = errors.Join(err, os.Remove(file))
	}
	return compiled, err
}

// name is how the files about a module begin.
func (s *store) name(binary []byte) string {
	sum := sha256.Sum256(binary)
	return filepath.Join(s.dir, hex.EncodeToString(sum[:]))
}

// code is where the file is that the runtime knows by the given path.
func (s *store) code(binary []byte, file string) string {
	return s.name(binary) + "-" + filepath.Base(filepath.Dir(file)) + "-" + filepath.Base(file)[:16] + codeEnd
}

// size is how many bytes of code are kept of a module, which those that are loaded are
// about as many as; of several variants the largest.
func (s *store) size(binary []byte) (bytes int64) {
	n, _ := s.note(binary) // what was loaded has one
	for file := range n {
		if info, err := os.Stat(s.code(binary, file)); err == nil {
			bytes = max(bytes, info.Size())
		}
	}
	return bytes
}

// forget removes all that there is about a module.
func (s *store) forget(binary []byte) {
	files, _ := filepath.Glob(s.name(binary) + "*")
	for _, file := range files {
		if err := os.RemoveAll(file); err != nil {
			s.log.Warn("throw compiled code away", "error", err)
		}
	}
}

func (s *store) note(binary []byte) (n note, err error) {
	path := s.name(binary) + noteEnd
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(n) == 0 || len(n) > maxVariants {
		return nil, fmt.Errorf("%s names %d files", path, len(n))
	}
	for file := range n {
		if dir, name := filepath.Split(file); !filepath.IsLocal(file) || filepath.Dir(filepath.Clean(dir)) != "." || !isHex(name) {
			return nil, fmt.Errorf("%s names %q", path, file)
		}
	}
	return n, nil
}

// writeNote writes a note in one step. It is not synced: one that is lost with the
// power costs a compilation.
func (s *store) writeNote(binary []byte, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(s.dir, "note-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // where it was not renamed
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), s.name(binary)+noteEnd)
}

// sweep removes what processes that were killed have left, and code that no note is
// about.
func (s *store) sweep() {
	entries, _ := os.ReadDir(s.dir)
	for _, entry := range entries {
		path := filepath.Join(s.dir, entry.Name())
		if path == s.live {
			continue
		}
		about, _, isCode := strings.Cut(entry.Name(), "-")
		if strings.HasSuffix(entry.Name(), noteEnd) && !entry.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(s.dir, about+noteEnd)); isCode && strings.HasSuffix(entry.Name(), codeEnd) && err == nil {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(path)
		}
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
