package file

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"

	"armature/core/method"
	"armature/core/route"
)

// Uploads is a method.Invoker with methods that take a file. They find it as the
// argument "file", a []byte; any other form of a call is as usual.
type Uploads interface {
	// Upload is the most bytes of the file that a method takes as the part "file"
	// of a multipart body; 0: it takes none.
	Upload(path string) int64
}

// Taking finds the methods of uploads that take a file, for requests that bring
// one; methods runs them.
func Taking(uploads Uploads, methods func() *method.Service) func(path string) *route.Raw {
	return func(path string) *route.Raw {
		most := uploads.Upload(path)
		if most == 0 {
			return nil
		}
		return &route.Raw{Path: path, For: isMultipart, Streams: true, Serve: func(w http.ResponseWriter, r *http.Request, call *route.Call) error {
			return serveArgument(methods(), w, r, call, most)
		}}
	}
}

func isMultipart(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "multipart/form-data"
}

// serveArgument runs the method with the file as an argument. Who may not call it is
// told before the body is received.
func serveArgument(methods *method.Service, w http.ResponseWriter, r *http.Request, call *route.Call, most int64) error {
	if err := methods.Admits(call.Path, r.Method, call.Caller); err != nil {
		return err
	}
	fields, content, err := ReadArguments(w, r, most)
	if err != nil {
		return err
	}
	args := make(map[string]any, len(fields)+1)
	for name, v := range fields {
		args[name] = v
	}
	if content != nil {
		args["file"] = content
	}
	res, err := methods.Run(r.Context(), method.Invocation{
		Path: call.Path, Verb: r.Method, Caller: call.Caller, Args: method.ArgsMap(args),
		Request: &method.Request{ID: call.RequestID, Method: r.Method, Path: r.URL.Path, RemoteAddr: r.RemoteAddr},
	})
	if err != nil {
		return err
	}
	body, err := json.Marshal(struct {
		Message json.RawMessage `json:"message,omitempty"`
	}{res.Message})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client is gone; the work is done either way
	return nil
}
