package platform

import (
	"context"

	"armature/core/connectedapp"
	"armature/core/egress"
	"armature/core/identity"
	"armature/runtime/hostapi"
)

// connected makes what a plugin's connected_request reaches: the site's
// Connected Apps, as the caller.
func (s *siteGuests) connected() hostapi.Connected {
	if s.test != nil {
		return s.test.Connected
	}
	return func(ctx context.Context, caller *identity.Caller, app string, asApp bool, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		answer, err := s.site.Connected.Do(ctx, caller, connectedapp.Request{
			App: app, AsApp: asApp, MaxBody: r.MaxBody, Timeout: r.Timeout,
			Request: egress.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body},
		})
		if err != nil {
			return nil, err
		}
		return &hostapi.HTTPResponse{Status: answer.Status, Header: answer.Header, Body: answer.Body}, nil
	}
}
