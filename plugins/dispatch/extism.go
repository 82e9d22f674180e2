package dispatch

import (
	"encoding/json"
	"mime"
	"strings"
	"unicode/utf8"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/method"
)

// extismInput is what an Extism export gets, whose input is bytes of any kind: the
// one argument that the manifest names; or the body of the request, if that is
// neither JSON nor a form and so has no arguments; or the arguments as JSON, as
// every other method does.
func extismInput(call *method.Call, name string, arguments []byte) ([]byte, error) {
	if name == "" {
		if body, ok := rawBody(call); ok {
			return body, nil
		}
		return arguments, nil
	}
	switch v := call.Args.Get(name).(type) {
	case nil:
		return nil, nil
	case string:
		return []byte(v), nil
	default:
		return json.Marshal(v)
	}
}

// extismResult is the output of an Extism export, which is bytes of any kind, as
// JSON: as it is, or else as a string. The output has been found to be no JSON.
func extismResult(export string, output []byte) ([]byte, error) {
	if !utf8.Valid(output) {
		return nil, fault.New(fault.Trap, "", "%s: the output is neither JSON nor text in UTF-8; other bytes are sent by armature_respond", export)
	}
	return doctype.AppendString(nil, string(output)), nil
}

// rawBody is the body of the request that made the call, unless the edge has taken
// arguments out of it.
func rawBody(call *method.Call) ([]byte, bool) {
	r := call.Request
	if r == nil || call.Parent != nil || len(r.Body) == 0 {
		return nil, false
	}
	media, _, err := mime.ParseMediaType(r.Header().Get("Content-Type"))
	switch {
	case err != nil, media == "application/json", strings.HasSuffix(media, "+json"),
		media == "application/x-www-form-urlencoded", media == "multipart/form-data":
		return nil, false
	}
	return r.Body, true
}
