package publish

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"armature/core/fault"
)

// What an archive may have. It is read in memory, and what comes of it is on disk.
const (
	MaxArchive  = 64 << 20  // bytes
	maxUnpacked = 512 << 20 // bytes of its files
	maxFiles    = 10_000
	maxPath     = 1000 // bytes of a path
	maxPart     = 200  // bytes of a part of it
	maxDepth    = 32
)

// index is the page without which nothing is a frontend.
const index = "index.html"

// entry is a file of an archive that may be served.
type entry struct {
	name string
	*zip.File
}

// device matches what is no file on some systems, whatever its extension.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)`)

// examine reads the directory of an archive: what is in it, and how large that claims
// to be. Nothing is unpacked of one that has anything wrong. Error: ValidationError.
func (v *Versions) examine(archive []byte) (files []entry, size int64, err error) {
	if len(archive) > MaxArchive {
		return nil, 0, fault.Invalid("", "The archive is over %d MiB", MaxArchive>>20)
	}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are checked below
		return nil, 0, fault.Invalid("", "This is no ZIP archive: %v", err)
	}
	if len(r.File) > 2*maxFiles {
		return nil, 0, fault.Invalid("", "The archive has more than %d files", maxFiles)
	}
	seen := names{}
	for _, f := range r.File {
		e := entry{strings.TrimSuffix(f.Name, "/"), f}
		isDir := f.Mode().IsDir()
		switch {
		case !isDir && !f.Mode().IsRegular():
			return nil, 0, invalid(f.Name, "links, devices and the like cannot be published")
		case f.Flags&1 != 0:
			return nil, 0, invalid(f.Name, "it is encrypted")
		}
		if why := v.wrong(e.name); why != "" {
			return nil, 0, invalid(f.Name, "%s", why)
		}
		if err := seen.add(e.name, isDir); err != nil {
			return nil, 0, err
		}
		if isDir {
			continue
		}
		files = append(files, e)
		size += int64(min(f.UncompressedSize64, maxUnpacked+1))
		if len(files) > maxFiles || size > maxUnpacked {
			return nil, 0, fault.Invalid("", "The archive has more than %d files, or more than %d MiB", maxFiles, maxUnpacked>>20)
		}
	}
	if !slices.ContainsFunc(files, func(e entry) bool { return e.name == index }) {
		return nil, 0, fault.Invalid("", "The archive has no %s at its top: publish the folder that it is in", index)
	}
	return files, size, nil
}

func invalid(name, why string, args ...any) error {
	return fault.Invalid("", "%q cannot be published: %s", name, fmt.Sprintf(why, args...))
}

// wrong says why a file of that name could not be kept on every system, or would never
// be served; empty: it can.
func (v *Versions) wrong(name string) string {
	parts := strings.Split(name, "/")
	switch {
	case !fs.ValidPath(name) || name == ".": // UTF-8, no .., nothing at the root of the file system
		return "it is no path within the folder"
	case len(name) > maxPath || len(parts) > maxDepth:
		return fmt.Sprintf("the path has more than %d bytes or %d parts", maxPath, maxDepth)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) }):
		return "a name has characters that not every system has names with"
	case v.c.Reserved("/" + name):
		return "the platform answers that path itself"
	}
	for _, p := range parts {
		switch {
		case strings.HasPrefix(p, ".") && p != ".well-known":
			return "names that begin with a dot are never served"
		case len(p) > maxPart || strings.HasSuffix(p, ".") || strings.HasSuffix(p, " ") || device.MatchString(p):
			return "not every system has files of that name"
		}
	}
	return ""
}

// names are those of an archive so far, as a system has them that does not tell capitals
// from small letters, nor an accent from a letter with one.
type names map[string]struct {
	name  string
	isDir bool
}

// add adds a file or a folder, and the folders that it is in. Error: ValidationError
// where it is there already.
func (n names) add(name string, isDir bool) error {
	for at, dir := name, isDir; at != "."; at, dir = path.Dir(at), true {
		key := cases.Fold().String(norm.NFC.String(at))
		old, ok := n[key]
		if ok && (old.name != at || !dir || !old.isDir) {
			return invalid(name, "%q is in the archive as well, and some systems have one file for both", old.name)
		}
		n[key] = struct {
			name  string
			isDir bool
		}{at, dir}
	}
	return nil
}

// unpack writes files into a folder that is not there yet.
func unpack(ctx context.Context, dir string, files []entry) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, e := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(e.name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := e.write(to); err != nil {
			return err
		}
	}
	return nil
}

// write unpacks one file, of which there is no more than its directory claims: an
// archive that says less than it has is as wrong as one that is damaged.
func (e entry) write(to string) error {
	from, err := e.Open()
	if err != nil {
		return invalid(e.name, "%v", err)
	}
	defer from.Close()
	err = write(to, from, int64(e.UncompressedSize64))
	var system *fs.PathError
	if err != nil && !errors.As(err, &system) {
		return invalid(e.name, "%v", err)
	}
	return err
}

var errOtherSize = errors.New("it has another size than the archive says")

// write makes a file of exactly so many bytes.
func write(to string, from io.Reader, size int64) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(from, size+1))
	if err == nil && n != size {
		err = errOtherSize
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
