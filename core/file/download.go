package file

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// ServeDownload answers GET and HEAD of /files/... and /private/files/...
// (reference section 6.3), parts of a file and conditional requests included.
// An error is returned before anything is written.
//
// Errors: Missing where there is nothing; Denied for a private file the caller
// may not read, whether there is one or not.
func (s *Service) ServeDownload(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	return s.serve(w, r, caller, r.URL.Path, false)
}

// ServeDownloadFile answers /api/method/download_file: the file with the URL in
// the argument file_url, to be saved.
func (s *Service) ServeDownloadFile(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	return s.serve(w, r, caller, r.URL.Query().Get("file_url"), true)
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request, caller *identity.Caller, url string, download bool) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
	}
	doc, err := s.served(r.Context(), caller, url, r.URL.Query().Get("fid"))
	if err != nil {
		return err
	}
	key := doc.Text("storage_key")
	body := &content{ctx: r.Context(), storage: s.storage, key: key, size: doc.Int("file_size")}
	defer body.close()
	tag := `"` + sumOf(key) + `"`
	if err := body.begin(r, tag); err != nil {
		return err
	}
	h := w.Header()
	setHeaders(h, doc.Text("file_name"), download)
	h.Set("Etag", tag)
	h.Set("Cache-Control", "public, max-age=300")
	if doc.Bool("is_private") {
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
	}
	http.ServeContent(w, r, "", s.created(doc), body)
	return nil
}

// served finds the File to be sent.
func (s *Service) served(ctx context.Context, caller *identity.Caller, url, fid string) (doc *doctype.Document, err error) {
	if _, ok := stored(url); !ok || !utf8.ValidString(url+fid) || strings.ContainsRune(url+fid, 0) {
		return nil, noFile(url)
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		doc, err = s.Open(ctx, tx, caller, norm.NFC.String(url), fid)
		return err
	})
	return doc, err
}

// Open finds the File with the URL of a stored file that the caller may read; fid
// is empty or its name. Errors are those of ServeDownload.
func (s *Service) Open(ctx context.Context, tx document.Tx, caller *identity.Caller, url, fid string) (*doctype.Document, error) {
	private, _ := stored(url)
	if private && caller.IsGuest() {
		return nil, fault.Denied("You need to log in to access this file")
	}
	doc, err := s.withURL(ctx, tx, url)
	if err != nil {
		return nil, err
	}
	ok := doc != nil && doc.Text("storage_key") != "" && (fid == "" || fid == doc.Name())
	if ok && (private || doc.Bool("is_private")) {
		if ok, err = s.mayRead(ctx, tx, caller, doc); err != nil {
			return nil, err
		}
	}
	switch {
	case ok:
		return doc, nil
	case private && !caller.Unchecked():
		return nil, unreadable()
	}
	return nil, noFile(url)
}

// withURL finds the File with the URL of a stored file; nil when there is none.
func (s *Service) withURL(ctx context.Context, tx document.Tx, url string) (*doctype.Document, error) {
	found, err := s.find(ctx, tx, 1, match{"file_url", url}, match{"is_folder", int64(0)})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// unreadable says the same of a private file that is not the caller's to read and
// of one that is not there.
func unreadable() error {
	return fault.Denied("You do not have enough permissions to access this file")
}

func noFile(url string) error {
	return fault.New(fault.NotFound, "", "File %s does not exist", CleanName(strings.TrimPrefix(url, "/")))
}

func (s *Service) created(doc *doctype.Document) time.Time {
	text, _ := doc.Get("creation").(string)
	t, err := time.ParseInLocation("2006-01-02 15:04:05.000000", text, s.now().Location())
	if err != nil {
		return time.Time{}
	}
	return t
}
