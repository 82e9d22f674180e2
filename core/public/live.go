package public

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/public/media"
	"armature/core/route"
)

// While a frontend is being written its pages load themselves again when a file of it
// was saved: each carries a script of the site's own, which the strict policy lets in,
// and that listens for events (HTML standard, "Server-sent events"). Their names begin
// with an underscore, as no file's does that is shown.
const (
	liveScript = "/_live.js"
	liveEvents = "/_live"
)

const (
	liveLook      = 300 * time.Millisecond // between two looks at the folder
	liveTime      = 5 * time.Second        // of one stream, so that a server that ends waits no longer; browsers begin the next
	liveListeners = 16                     // of a site at a time
	liveFiles     = 10_000                 // that are looked at
)

const liveCode = `let seen = new URL(document.currentScript.src).searchParams.get("since");
new EventSource("/_live").onmessage = (e) => { if (e.data !== seen) { seen = e.data; location.reload(); } };
`

// live answers what belongs to it; nil: the path does not, or nobody wants it.
func (f *Frontend) live(path string) route.Handler {
	if path != liveScript && path != liveEvents || f.c.Live == nil || !f.c.Live() {
		return nil
	}
	if path == liveEvents {
		return f.serveEvents
	}
	return func(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
		h := w.Header()
		h.Set("Content-Type", media.TypeOf(".js"))
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(liveCode))
		return nil
	}
}

// serveEvents sends the mark of the folder, and again when it is another one. Errors:
// Unavailable where too many listen.
func (f *Frontend) serveEvents(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
	defer f.listeners.Add(-1)
	if f.listeners.Add(1) > liveListeners {
		return fault.New(fault.Unavailable, "", "More than %d pages listen for changes", liveListeners)
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	end, look := time.NewTimer(liveTime), time.NewTicker(liveLook)
	defer end.Stop()
	defer look.Stop()
	told := ""
	for {
		if mark := f.mark(); mark != told {
			told = mark
			if _, err := fmt.Fprintf(w, "retry: 300\ndata: %s\n\n", mark); err != nil {
				return nil // the page is gone
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				return nil
			}
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-end.C:
			return nil
		case <-look.C:
		}
	}
}

// mark tells states of the folder apart.
func (f *Frontend) mark() string {
	dir, _ := f.folder()
	h, left := sha256.New(), liveFiles
	fmt.Fprintln(h, dir)
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone meanwhile, which the next look sees
		}
		if left--; left < 0 {
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil && !e.IsDir() {
			fmt.Fprintln(h, name, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// maxPage is the size of the largest page that gets the script, in bytes.
const maxPage = 4 << 20

// withScript is a page with the script behind it; nil: it is none, or nobody wants it.
func (f *Frontend) withScript(name string, file io.Reader, size int64) (*bytes.Reader, error) {
	if f.c.Live == nil || !f.c.Live() || media.TypeOf(name) != media.TypeOf(".html") || size > maxPage {
		return nil, nil
	}
	mark := f.mark() // before the page is read: what comes later is news to it
	page, err := io.ReadAll(io.LimitReader(file, maxPage))
	if err != nil {
		return nil, err
	}
	return bytes.NewReader(fmt.Appendf(page, "\n<script src=\"%s?since=%s\"></script>\n", liveScript, mark)), nil
}
