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

	"armature/core/fault"
	"armature/core/route"
)

// Config is what a frontend is made with.
type Config struct {
	Dir    string // the folder, which may not be there
	Logger *slog.Logger
}

// Frontend serves the files of one site.
type Frontend struct {
	dir     string
	log     *slog.Logger
	bundles bundles
	headers headers
}

// New makes the frontend of a site.
func New(c Config) *Frontend {
	return &Frontend{dir: c.Dir, log: c.Logger}
}

// Home answers / where the site has a page of its own for it, and nothing else.
func (f *Frontend) Home(urlPath string) route.Handler {
	if urlPath != "/" {
		return nil
	}
	if info, err := os.Stat(f.dir + "/" + index); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return f.serve
}

// Page answers every path, if there is a frontend.
func (f *Frontend) Page(string) route.Handler {
	if info, err := os.Stat(f.dir); err != nil || !info.IsDir() {
		return nil
	}
	return f.serve
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
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return missing(err)
	}
	defer root.Close()
	name, ok := nameOf(r.URL.Path)
	if !ok {
		return errMissing
	}
	err = f.find(w, r, root, name)
	if errors.Is(err, fs.ErrNotExist) && navigates(r, name) {
		err = f.find(w, r, root, index)
	}
	return missing(err)
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
	case isSource(name):
		return f.serveBundle(w, r, root, name)
	case !info.Mode().IsRegular():
		return fs.ErrNotExist
	}
	f.guard(root, w.Header(), name)
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
	h.Set("Content-Type", typeOf(name))
	h.Set("Etag", `"`+tag+`"`)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", cacheControl(name))
	}
	http.ServeContent(w, r, "", info.ModTime(), file)
	return nil
}
