package sites

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/file"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/site"
)

// openFiles makes the site's file service: on disk, or in the bucket that the
// configuration names.
func (t *Tenant) openFiles() (err error) {
	t.storage = &movable{}
	if err := t.moveFiles(t.Site.Config()); err != nil {
		return err
	}
	t.Files, err = file.New(file.Config{
		Store: t.Store, Documents: func() *document.Service { return t.Documents }, Storage: t.storage,
		Spool: t.set.spool(t.folder), Shrinker: t.set.shrinker, Identity: t.found.Identity, Call: t.callWithFile, Now: t.Site.Now, Logger: t.log,
		Setting: func(key string) json.RawMessage { v, _ := t.Site.Config().Get(key); return v },
	})
	return err
}

// moveFiles has files kept where a configuration says.
func (t *Tenant) moveFiles(config *site.Config) error {
	to, err := openStorage(config, t.folder, t.set.c.Layout.Files(t.folder))
	if err != nil {
		return err
	}
	return t.storage.move(to)
}

// spool is where what is being uploaded lies.
func (s *Set) spool(folder string) string { return filepath.Join(s.c.Layout.Files(folder), "tmp") }

// callWithFile runs a method on an uploaded file: the fields of the form are its
// arguments, the file is the body of its request.
func (t *Tenant) callWithFile(ctx context.Context, caller *identity.Caller, c file.MethodCall) (json.RawMessage, error) {
	args := make(map[string]any, len(c.Args)+1)
	for name, v := range c.Args {
		args[name] = v
	}
	args["file_name"] = c.Name
	res, err := t.Methods().Run(ctx, method.Invocation{
		Path: c.Path, Verb: http.MethodPost, Caller: caller, Args: method.ArgsMap(args),
		Request: &method.Request{
			Method: http.MethodPost, Path: "/api/method/upload_file", Body: c.Body,
			Head: contentType(c.ContentType),
		},
	})
	return res.Message, err
}

// contentType is the head of a request of which no more is told.
type contentType string

// Origin implements method.Head.
func (contentType) Origin() string { return "" }

// Header implements method.Head.
func (t contentType) Header() http.Header { return http.Header{"Content-Type": {string(t)}} }

// rawFile finds the raw methods of files.
func (t *Tenant) rawFile(path string) *httpapi.Raw {
	with := func(fn func(http.ResponseWriter, *http.Request, *identity.Caller) error) func(http.ResponseWriter, *http.Request, *httpapi.RawCall) error {
		return func(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
			return fn(w, r, call.Caller)
		}
	}
	switch path {
	case "upload_file":
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, Streams: true, Serve: with(t.Files.ServeUpload)}
	case "download_file":
		return &httpapi.Raw{Verbs: []string{http.MethodGet}, Serve: with(t.Files.ServeDownloadFile)}
	case "framework.client.attach_file":
		return &httpapi.Raw{Verbs: []string{http.MethodPost, http.MethodPut}, Serve: func(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
			args, err := call.Args()
			if err != nil {
				return err
			}
			return t.Files.ServeAttachFile(w, r, call.Caller, args.Get)
		}}
	}
	return nil
}

// filePage serves /files and /private/files.
func (t *Tenant) filePage(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
	if file.Serves(r.URL.Path) {
		return t.Files.ServeDownload(w, r, call.Caller)
	}
	return fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")
}
