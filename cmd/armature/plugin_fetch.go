package main

import (
	"context"
	"encoding/json"

	"armature/core/egress"
	"armature/core/fault"
	"armature/runtime/hostapi"
)

// privateHosts is the site setting with the hosts that may be on this machine or
// on a private network.
const privateHosts = "allowed_private_hosts"

// fetch makes what a plugin's http_fetch reaches: the hosts it was given.
func (g *guests) fetch(site string, given []string) hostapi.Fetch {
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
		if policy.Private, err = g.private(site); err != nil {
			return nil, err
		}
		answer, err := g.egress.Do(ctx, policy, egress.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body})
		if err != nil {
			return nil, err
		}
		return &hostapi.HTTPResponse{Status: answer.Status, Header: answer.Header, Body: answer.Body}, nil
	}
}

func (g *guests) private(site string) (none egress.Hosts, err error) {
	t := g.tenant(site)
	if t == nil {
		return none, nil
	}
	text, ok := t.Site.Config().Get(privateHosts)
	if !ok {
		return none, nil
	}
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return none, fault.Wrap(fault.Internal, "", err, "The site's setting %s is no list of hosts", privateHosts)
	}
	return egress.ParseHosts(names...)
}
