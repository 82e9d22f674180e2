package apps

import (
	"net/http"
	"path"
	"strings"
	"time"

	"armature/core/apps/app"
	"armature/core/coding"
	"armature/core/fault"
	"armature/core/public/media"
	"armature/core/route"
)

// index is the file that a folder shows, and that of the app what a client-side router
// shows for an address that is no file.
const index = "index.html"

// file answers with one of the plugin's files. Errors: MethodNotAllowed for all but GET and
// HEAD; NotFound.
func (v *visit) file(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
	files := v.app.Files
	name := strings.TrimPrefix(path.Clean(v.path.Path), "/")
	if files == nil || name != "" && app.Unservable(name) != "" {
		return errMissing
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
	}
	f := files.Get(name)
	if files.HasFolder(name) {
		if f = files.Get(path.Join(name, index)); f != nil && !strings.HasSuffix(v.path.Path, "/") {
			return v.toFolder(w)
		}
	}
	if f == nil && navigates(r, name) {
		f = files.Get(index)
	}
	if f == nil {
		return errMissing
	}
	return send(w, r, f)
}

// toFolder leads to a folder with the slash that its page's relative addresses need.
func (v *visit) toFolder(w http.ResponseWriter) error {
	w.Header().Set("Location", v.base+v.path.EscapedPath()+"/"+query(v.r))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusTemporaryRedirect)
	return nil
}

// navigates reports whether somebody goes to an address, rather than a page asking for a
// part of itself.
func navigates(r *http.Request, name string) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		return false
	}
	return path.Ext(name) == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// send answers with a file, in the form in which it lies in the archive where the client
// reads that.
func send(w http.ResponseWriter, r *http.Request, f *app.File) error {
	h := w.Header()
	h.Set("Content-Type", typeOf(f.Name))
	h.Set("Cache-Control", media.CacheControl(f.Name))
	if plain := f.Plain(); plain != nil {
		h.Set("Etag", `"`+f.Tag()+`"`)
		http.ServeContent(w, r, "", time.Time{}, plain)
		return nil
	}
	h.Add("Vary", "Accept-Encoding")
	zipped := coding.Best(r.Header.Get("Accept-Encoding"), coding.Gzip) != ""
	tag := `"` + f.Tag() + `"`
	if zipped {
		tag = `"` + f.Tag() + `-gzip"`
		h.Set("Content-Encoding", coding.Gzip)
	}
	h.Set("Etag", tag)
	switch {
	case known(r, tag):
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return nil
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
		return nil
	}
	if !zipped {
		return f.Unpack(w)
	}
	for _, part := range f.Gzip() {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// known reports whether the client has the form of a file with a tag (RFC 9110, section
// 13.1.2).
func known(r *http.Request, tag string) bool {
	for given := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if given = strings.TrimSpace(given); given == "*" || strings.TrimPrefix(given, "W/") == tag {
			return true
		}
	}
	return false
}

// typeOf is the media type of a file; a script that was made a module is one.
func typeOf(name string) string {
	for _, ext := range app.Scripts {
		if strings.HasSuffix(name, ext) {
			return media.TypeOf("module.js")
		}
	}
	return media.TypeOf(name)
}
