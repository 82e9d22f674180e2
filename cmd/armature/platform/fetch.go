package platform

import (
	"context"

	"armature/core/egress"
	"armature/runtime/hostapi"
)

// fetch makes what a plugin's http_fetch reaches: the hosts it was given.
func (s *siteGuests) fetch(given []string) hostapi.Fetch {
	if s.test != nil {
		return s.test.Fetch(given)
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
		if policy.Private, err = s.outgoing(); err != nil {
			return nil, err
		}
		answer, err := s.egress.Do(ctx, policy, egress.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body})
		if err != nil {
			return nil, err
		}
		return &hostapi.HTTPResponse{Status: answer.Status, Header: answer.Header, Body: answer.Body}, nil
	}
}

// outgoing are the hosts that may be on this machine or on a private network, of a
// site from which something may be sent.
func (s *siteGuests) outgoing() (none egress.Hosts, err error) {
	if err := s.site.Outgoing(); err != nil {
		return none, err
	}
	return egress.ParseHosts(s.site.Site.Config().PrivateHosts()...)
}
