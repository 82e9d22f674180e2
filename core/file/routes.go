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

// Pages are /files/... and /private/files/....
func (s *Service) Pages() []route.Page {
	serve := route.WithCaller(s.ServeDownload)
	return []route.Page{{Path: publicURL, Serve: serve}, {Path: privateURL, Serve: serve}}
}
