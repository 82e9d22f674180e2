package platform

import (
	"context"

	"armature/core/egress"
	"armature/runtime/hostapi"
)

// fetch makes what a plugin's http_fetch reaches: the hosts it was given.
func (g *Guests) fetch(site string, given []string) hostapi.Fetch {
	if g.test != nil {
		return g.test.Fetch(given)
	}
	hosts, wrong := egress.ParseHosts(given...)
	return func(ctx context.Context, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
		if wrong != nil {
			return nil, wrong
		}
		policy := egress.DefaultPolicy(hosts)
		policy.MaxBody = min(policy.MaxBody, r.MaxBody)
		if r.Timeout > 0 {
			policy.Timeout = r.Timeout
		}
		var err error
		if policy.Private, err = g.outgoing(site); err != nil {
			return nil, err
		}
		answer, err := g.egress.Do(ctx, policy, egress.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body})
		if err != nil {
			return nil, err
		}
		return &hostapi.HTTPResponse{Status: answer.Status, Header: answer.Header, Body: answer.Body}, nil
	}
}

// outgoing are the hosts that may be on this machine or on a private network, of a
// site from which something may be sent.
func (g *Guests) outgoing(site string) (none egress.Hosts, err error) {
	t := g.tenant(site)
	if t == nil {
		return none, nil
	}
	if err := t.Outgoing(); err != nil {
		return none, err
	}
	return egress.ParseHosts(t.Site.Config().PrivateHosts()...)
}
