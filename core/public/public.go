// Package public serves the frontend of a site: what lies in its folder public, at the
// root of its address. A file that is put there, replaced or taken away counts from the
// next request on.
//
// It is the last that a request comes to: what a service of the platform answers is
// never answered by a file. Everybody may read all of it, as of any static site.
package public

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"armature/core/fault"
	"armature/core/public/media"
	"armature/core/public/module"
	"armature/core/route"
)

// Config is what a frontend is made with.
type Config struct {
	Dir string // the folder, which may not be there
	// Published are folders that count instead, the first of them; the others are of
	// versions before it; nil, and none: Dir counts.
	Published func() []string
	Live      func() bool // whether pages load themselves again when a file was saved; nil: they do not
	Logger    *slog.Logger
}

// Frontend serves the files of one site.
type Frontend struct {
	c       Config
	log     *slog.Logger
	bundles bundles
	headers headers

	listeners atomic.Int32
}

// New makes the frontend of a site.
func New(c Config) *Frontend {
	return &Frontend{c: c, log: c.Logger}
}

// folder is the one that counts now, and those of versions before it.
func (f *Frontend) folder() (dir string, before []string) {
	if f.c.Published != nil {
		if dirs := f.c.Published(); len(dirs) > 0 {
			return dirs[0], dirs[1:]
		}
	}
	return f.c.Dir, nil
}

// Home answers / where the site has a page of its own for it, and nothing else.
func (f *Frontend) Home(urlPath string) route.Handler {
	if urlPath != "/" {
		return nil
	}
	dir, _ := f.folder()
	if info, err := os.Stat(dir + "/" + index); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return f.serve
}

// Page answers every path, if there is a frontend.
func (f *Frontend) Page(urlPath string) route.Handler {
	if live := f.live(urlPath); live != nil {
		return live
	}
	dir, _ := f.folder()
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	return f.serve
}

// Has reports whether there is a file at a path, for who would answer where there is
// none.
func (f *Frontend) Has(urlPath string) bool {
	name, ok := nameOf(urlPath)
	if !ok {
		return false
	}
	dir, _ := f.folder()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// index is the file that a folder shows, and that of the root what a client-side router
// shows for an address that is no file.
const index = "index.html"

// serve answers with a file. Errors: MethodNotAllowed for all but GET and HEAD; NotFound
// for a file that is not there, also where it may not be shown.
func (f *Frontend) serve(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
	}
	// All of a request is of the folder that was there when it came, whatever takes its
	// place; no name and no link leads out of it.
	dir, before := f.folder()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return missing(err)
	}
	defer root.Close()
	name, ok := nameOf(r.URL.Path)
	if !ok {
		return errMissing
	}
	err = f.find(w, r, root, name)
	if errors.Is(err, fs.ErrNotExist) && media.Keepable(name) {
		err = f.findBefore(w, r, before, name)
	}
	if errors.Is(err, fs.ErrNotExist) && navigates(r, name) {
		err = f.find(w, r, root, index)
	}
	return missing(err)
}

// findBefore serves a file whose name has a hash of its content in it from a version
// that was served before: a page that somebody has open still asks for it.
func (f *Frontend) findBefore(w http.ResponseWriter, r *http.Request, before []string, name string) error {
	for _, dir := range before {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue // it was deleted just now
		}
		err = f.find(w, r, root, name)
		root.Close()
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fs.ErrNotExist
}

// errMissing is what is said of every file that cannot be shown, whatever the reason:
// which of them are there is nobody's business.
var errMissing = fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")

// missing makes an error that a name can bring about one of a missing file.
func missing(err error) error {
	var elsewhere *fs.PathError
	if errors.As(err, &elsewhere) {
		return errMissing
	}
	return err
}

// find serves a file, the index of a folder, or what a script in TypeScript becomes.
func (f *Frontend) find(w http.ResponseWriter, r *http.Request, root *os.Root, name string) error {
	file, info, err := open(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		if source, is := sourceOf(root, name); is {
			return f.serveBundle(w, r, root, source)
		}
	}
	if err != nil {
		return err
	}
	defer file.Close()
	switch {
	case info.IsDir() && !strings.HasSuffix(r.URL.Path, "/"):
		return toFolder(w, r)
	case info.IsDir():
		return f.find(w, r, root, path.Join(name, index))
	case module.Is(name):
		return f.serveBundle(w, r, root, name)
	case !info.Mode().IsRegular():
		return fs.ErrNotExist
	}
	f.guard(root, w.Header(), name)
	if page, err := f.withScript(name, file, info.Size()); page != nil || err != nil {
		w.Header().Set("Content-Type", media.TypeOf(".html"))
		w.Header().Set("Cache-Control", "no-store")
		if err == nil {
			http.ServeContent(w, r, "", time.Time{}, page)
		}
		return err
	}
	return send(w, r, root, name, file, info)
}

// open opens a file and says what it is. A pipe is not opened: nobody may be writing.
func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	file, err := root.Open(name)
	return file, info, err
}

// nameOf is the file that a path names. Names that begin with a dot or an underscore
// are never shown, such as .git and _headers; .well-known is made to be (RFC 8615).
func nameOf(urlPath string) (string, bool) {
	name := strings.TrimPrefix(path.Clean(urlPath), "/")
	if name == "" {
		return ".", true
	}
	if strings.ContainsAny(name, "\\\x00:") {
		return "", false
	}
	parts := strings.Split(name, "/")
	hidden := slices.ContainsFunc(parts, func(p string) bool {
		return strings.HasPrefix(p, "_") || strings.HasPrefix(p, ".") && p != ".well-known"
	})
	return name, !hidden
}

// navigates reports whether somebody goes to an address, rather than a page asking for
// a part of itself: a missing script or picture must not turn out to be a page.
func navigates(r *http.Request, name string) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		return false
	}
	return path.Ext(name) == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// toFolder leads to a folder with the slash that its page's relative addresses need.
func toFolder(w http.ResponseWriter, r *http.Request) error {
	to := url.URL{Path: "./" + path.Base(r.URL.Path) + "/", RawQuery: r.URL.RawQuery}
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusPermanentRedirect)
	return nil
}

// send answers with a file, compressed where it lies beside in a form that the client
// reads. http.ServeContent sees to ranges and to what the client has already.
func send(w http.ResponseWriter, r *http.Request, root *os.Root, name string, file io.ReadSeeker, info fs.FileInfo) error {
	h := w.Header()
	tag := strconv.FormatInt(info.ModTime().UnixNano(), 36) + "-" + strconv.FormatInt(info.Size(), 36)
	if small, coding := smaller(r, root, name, info); small != nil {
		defer small.Close()
		file, tag = small, tag+"-"+coding
		h.Set("Content-Encoding", coding)
	}
	h.Add("Vary", "Accept-Encoding")
	h.Set("Content-Type", media.TypeOf(name))
	h.Set("Etag", `"`+tag+`"`)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", media.CacheControl(name))
	}
	http.ServeContent(w, r, "", info.ModTime(), file)
	return nil
}
