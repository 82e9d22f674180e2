package hostapi_test

import (
	"context"
	"testing"

	"armature/core/fault"
	"armature/core/identity"
	"armature/runtime/hostapi"
)

func TestConnectedRequest(t *testing.T) {
	s := newSite(t)
	s.post(ask("connected_request", m{"app": "A", "url": "https://a.example/"}))[0].refused(t, fault.NotImplemented, "NotImplementedError")
	var user, app string
	var own bool
	var asked *hostapi.HTTPRequest
	s.plugin.Connected = func(_ context.Context, c *identity.Caller, name string, asApp bool, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		user, app, own, asked = c.User, name, asApp, r
		return &hostapi.HTTPResponse{Status: 200, Body: []byte("{}")}, nil
	}
	got := s.post(ask("connected_request", m{"app": "A", "url": "https://a.example/", "method": "PUT", "body": "x"}))[0].document(t)
	if got["status"] != 200.0 || user == "" || app != "A" || own || asked.Method != "PUT" || string(asked.Body) != "x" {
		t.Errorf("answer %v for %s, %s, %v: %+v", got, user, app, own, asked)
	}
	s.post(ask("connected_request", m{"app": "A", "as": "app", "url": "https://a.example/"}))
	if !own {
		t.Error("the app's own token was not asked for")
	}
	for _, bad := range []m{{"url": "https://a.example/"}, {"app": "A"}, {"app": "A", "url": "https://a.example/", "as": "root"}} {
		s.post(ask("connected_request", bad))[0].refused(t, fault.BadRequest, "BadRequestError")
	}
	read := ask("doc_count", m{"doctype": "ToDo"})
	s.post(read, ask("connected_request", m{"app": "A", "url": "https://a.example/"}))[1].refused(t, fault.Validation, "ValidationError")
	s.plugin.Grants = 0
	s.post(ask("connected_request", m{"app": "A", "url": "https://a.example/"}))[0].refused(t, fault.Permission, "PermissionError")
}
