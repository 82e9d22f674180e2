package app

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// What the files of a plugin may be.
const (
	MaxPacked   = 16 << 20 // bytes of the archive, which is kept in memory
	MaxUnpacked = 64 << 20 // bytes of all files
	MaxFiles    = 2000
	maxPath     = 500
)

// Files are the files of a plugin: an archive that is read where it lies, and of which
// nothing is kept unpacked.
type Files struct {
	archive []byte
	files   map[string]*File
	folders map[string]bool
}

// File is one of them.
type File struct {
	Name string // its path
	Size int64
	sum  uint32
	// stored is whether the archive has it as it is, and packed how the archive has it.
	stored bool
	packed []byte
}

// Open reads the directory of an archive. Errors say what no plugin may bring.
func Open(archive []byte) (*Files, error) {
	if len(archive) > MaxPacked {
		return nil, fmt.Errorf("the files of public are over %d MiB packed", MaxPacked>>20)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are checked below
		return nil, fmt.Errorf("the files of public are no archive: %w", err)
	}
	if len(z.File) > MaxFiles {
		return nil, fmt.Errorf("public has more than %d files", MaxFiles)
	}
	f := &Files{archive: archive, files: make(map[string]*File, len(z.File)), folders: map[string]bool{}}
	size := uint64(0)
	for _, entry := range z.File {
		size += min(entry.UncompressedSize64, MaxUnpacked+1)
		if size > MaxUnpacked {
			return nil, fmt.Errorf("the files of public are over %d MiB", MaxUnpacked>>20)
		}
		file, err := f.entry(entry)
		if err != nil {
			return nil, fmt.Errorf("public/%s: %w", entry.Name, err)
		}
		f.files[file.Name] = file
		for dir := path.Dir(file.Name); dir != "."; dir = path.Dir(dir) {
			f.folders[dir] = true
		}
	}
	for name := range f.files {
		if f.folders[name] {
			return nil, fmt.Errorf("public/%s: it is a file and a folder", name)
		}
	}
	return f, nil
}

func (f *Files) entry(entry *zip.File) (*File, error) {
	if why := Unservable(entry.Name); why != "" {
		return nil, errors.New(why)
	}
	at, err := entry.DataOffset()
	if err != nil {
		return nil, err
	}
	end := uint64(at) + entry.CompressedSize64
	file := &File{Name: entry.Name, Size: int64(entry.UncompressedSize64), sum: entry.CRC32, stored: entry.Method == zip.Store}
	switch {
	case !entry.Mode().IsRegular() || entry.Flags&1 != 0:
		return nil, errors.New("it is no plain file")
	case f.files[entry.Name] != nil:
		return nil, errors.New("it is there twice")
	case entry.Method != zip.Store && entry.Method != zip.Deflate:
		return nil, errors.New("it is packed in a way that browsers do not read")
	case entry.CompressedSize64 > MaxPacked || end > uint64(len(f.archive)) || file.stored && entry.CompressedSize64 != entry.UncompressedSize64:
		return nil, errors.New("its size is not what the archive says")
	}
	file.packed = f.archive[at:end:end]
	return file, nil
}

// Unservable says why no file of that path is served; empty: it can be.
func Unservable(name string) string {
	hidden := func(part string) bool {
		return strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != ".well-known"
	}
	parts := strings.Split(name, "/")
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:\x00"):
		return "it is no path within the folder"
	case len(name) > maxPath:
		return fmt.Sprintf("its path is longer than %d bytes", maxPath)
	case slices.ContainsFunc(parts, hidden):
		return "names that begin with a dot or an underscore are never served"
	case parts[0] == strings.Trim(Reserved, "/"):
		return "what begins with " + Reserved + " is the platform's"
	}
	return ""
}

// Get returns a file, or nil. A script in TypeScript is there under the name of what it
// has become, too.
func (f *Files) Get(name string) *File {
	if f == nil {
		return nil
	}
	if file := f.files[name]; file != nil {
		return file
	}
	if base, is := strings.CutSuffix(name, ".js"); is {
		for _, ext := range Scripts {
			if file := f.files[base+ext]; file != nil {
				return file
			}
		}
	}
	return nil
}

// Scripts are what the names of files end with that were made modules for browsers when
// they were packed.
var Scripts = []string{".ts", ".tsx", ".jsx"}

// HasFolder reports whether a path is that of a folder.
func (f *Files) HasFolder(name string) bool { return f != nil && (name == "" || f.folders[name]) }

// Tag tells versions of the file apart.
func (f *File) Tag() string { return fmt.Sprintf("%08x-%x", f.sum, f.Size) }

// Plain is the file where the archive has it as it is; nil: it is packed.
func (f *File) Plain() io.ReadSeeker {
	if !f.stored {
		return nil
	}
	return bytes.NewReader(f.packed)
}

// Unpack writes a packed file to w. What turns out to be another than the archive says is
// an error, and never longer.
func (f *File) Unpack(w io.Writer) error {
	r := flate.NewReader(bytes.NewReader(f.packed))
	n, err := io.Copy(w, io.LimitReader(r, f.Size))
	if err == nil && n != f.Size {
		err = fmt.Errorf("public/%s is damaged: %d bytes of %d", f.Name, n, f.Size)
	}
	return errors.Join(err, r.Close())
}

// gzipHead begins a stream of gzip (RFC 1952, section 2.3): the method is deflate, and
// nothing else is said.
var gzipHead = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}

// Gzip is a packed file in the form of RFC 1952: an archive has just that, but for the head
// and the foot.
func (f *File) Gzip() [][]byte {
	foot := binary.LittleEndian.AppendUint32(nil, f.sum)
	foot = binary.LittleEndian.AppendUint32(foot, uint32(f.Size))
	return [][]byte{gzipHead, f.packed, foot}
}

// packedAnyway are the kinds of files that do not get smaller.
var packedAnyway = strings.Fields(".png .jpg .jpeg .gif .webp .avif .woff .woff2 .mp3 .ogg .mp4 .webm .pdf .zip .gz .br .zst")

// Pack makes the archive of files: the same one of the same files. read gives the content
// of each.
func Pack(names []string, read func(name string) ([]byte, error)) ([]byte, error) {
	names = slices.Sorted(slices.Values(names))
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range names {
		if why := Unservable(name); why != "" {
			return nil, fmt.Errorf("public/%s: %s", name, why)
		}
		content, err := read(name)
		if err != nil {
			return nil, err
		}
		method := zip.Deflate
		if slices.Contains(packedAnyway, strings.ToLower(path.Ext(name))) {
			method = zip.Store
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	_, err := Open(out.Bytes())
	return out.Bytes(), err
}
