package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"armature/core/fault"
)

// Bounds of what an agent reads and writes.
const (
	maxFile  = 1 << 20 // bytes
	maxFiles = 500
)

// project is the folder that an agent works in. The system resolves its paths, so that no
// link in it leads out.
type project struct {
	dir  string // absolute
	root *os.Root
}

func openProject(dir string) (*project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &project{dir, root}, nil
}

func (p *project) close() { _ = p.root.Close() }

// local is a path of a file in the project as the system writes it. Hidden files are
// somebody else's: hooks of version control, which run, and secrets.
func (p *project) local(name string) (string, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	local := filepath.FromSlash(clean)
	if name == "" || strings.ContainsRune(name, 0) || !filepath.IsLocal(local) {
		return "", fault.Denied("%q is outside of the project folder; paths are relative to %s", name, p.dir)
	}
	for part := range strings.SplitSeq(clean, "/") {
		if strings.HasPrefix(part, ".") && part != "." {
			return "", fault.Denied("%q is hidden: such files are not the agent's", name)
		}
	}
	return local, nil
}

// found is the same of what is there, as a path for compilers.
func (p *project) found(name string) (string, error) {
	local, err := p.local(name)
	if err != nil {
		return "", err
	}
	if _, err := p.root.Stat(local); err != nil {
		return "", p.explain(name, err)
	}
	return filepath.Join(p.dir, local), nil
}

// explain is an error of the system as an agent understands it.
func (p *project) explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Missing("There is no %s in the project", name)
	case strings.Contains(err.Error(), "escapes"):
		return fault.Denied("%q leads out of the project folder", name)
	}
	return err
}

// files are the paths of what is not hidden.
func (p *project) files() (names []string, more bool, err error) {
	err = fs.WalkDir(p.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case name == ".":
			return nil
		case strings.HasPrefix(base, "."), base == "node_modules", base == "target":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case len(names) == maxFiles:
			more = true
			return fs.SkipAll
		}
		names = append(names, name)
		return nil
	})
	return names, more, err
}

func (p *project) read(name string) (string, error) {
	local, err := p.local(name)
	if err != nil {
		return "", err
	}
	info, err := p.root.Stat(local)
	switch {
	case err != nil:
		return "", p.explain(name, err)
	case !info.Mode().IsRegular():
		return "", fault.Invalid("", "%s is no file", name)
	case info.Size() > maxFile:
		return "", fault.Invalid("", "%s has over %d bytes", name, maxFile)
	}
	text, err := p.root.ReadFile(local)
	if err != nil {
		return "", p.explain(name, err)
	}
	if !utf8.Valid(text) {
		return "", fault.Invalid("", "%s is no text", name)
	}
	return string(text), nil
}

func (p *project) write(name, text string) error {
	local, err := p.local(name)
	if err != nil {
		return err
	}
	if local == "." || len(text) > maxFile {
		return fault.Invalid("", "%s: a file has a name and at most %d bytes", name, maxFile)
	}
	if err := p.root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return p.explain(name, err)
	}
	if err := p.root.WriteFile(local, []byte(text), 0o644); err != nil {
		return p.explain(name, err)
	}
	return nil
}

// free is the path of a folder that is to be made in the project.
func (p *project) free(name string) (string, error) {
	local, err := p.local(name)
	if err != nil {
		return "", err
	}
	if _, err := p.root.Lstat(local); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return "", p.explain(name, err)
		}
		return "", fault.New(fault.Conflict, "", "%s is there already", name)
	}
	if parent, err := p.root.Stat(filepath.Dir(local)); err != nil || !parent.IsDir() {
		return "", fmt.Errorf("%s: its folder is not there", name)
	}
	return filepath.Join(p.dir, local), nil
}
