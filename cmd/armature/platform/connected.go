package platform

import (
	"context"

	"armature/core/connectedapp"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/identity"
	"armature/runtime/hostapi"
)

// connected makes what a plugin's connected_request reaches: the site's
// Connected Apps, as the caller.
func (g *Guests) connected(site string) hostapi.Connected {
	if g.test != nil {
		return g.test.Connected
	}
	return func(ctx context.Context, caller *identity.Caller, app string, asApp bool, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		t := g.tenant(site)
		if t == nil {
			return nil, fault.New(fault.Unavailable, "", "The site is not open")
		}
		answer, err := t.Connected.Do(ctx, caller, connectedapp.Request{
			App: app, AsApp: asApp, MaxBody: r.MaxBody, Timeout: r.Timeout,
			Request: egress.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body},
		})
		if err != nil {
			return nil, err
		}
		return &hostapi.HTTPResponse{Status: answer.Status, Header: answer.Header, Body: answer.Body}, nil
	}
}
