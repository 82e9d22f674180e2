package file

import (
	"net/http"

	"armature/core/route"
)

// Raw are the methods by which files come and go.
func (s *Service) Raw() []*route.Raw {
	return []*route.Raw{
		{Path: "upload_file", Verbs: []string{http.MethodPost}, Streams: true, Serve: route.WithCaller(s.ServeUpload)},
		{Path: "download_file", Verbs: []string{http.MethodGet}, Serve: route.WithCaller(s.ServeDownloadFile)},
		{Path: "framework.client.attach_file", Verbs: []string{http.MethodPost, http.MethodPut}, Serve: func(w http.ResponseWriter, r *http.Request, call *route.Call) error {
			args, err := call.Args()
			if err != nil {
				return err
			}
			return s.ServeAttachFile(w, r, call.Caller, args.Get)
		}},
	}
}

// Page returns what answers /files/... and /private/files/..., or nil.
func (s *Service) Page(path string) route.Handler {
	if _, ok := stored(path); !ok {
		return nil
	}
	return route.WithCaller(s.ServeDownload)
}
