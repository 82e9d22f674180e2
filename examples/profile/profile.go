package main

import (
	"encoding/json"
	"strconv"

	"armature/sdk/go"
)

// Asking names the Connected App to ask by.
type Asking struct {
	App string `json:"app"`
}

// Profile is what the other service says of the caller.
type Profile struct {
	Connected bool           `json:"connected"`
	Claims    map[string]any `json:"claims,omitempty"`
}

// show asks the service in the caller's name. The site's configuration says
// where: plugins -> acme.profile -> userinfo_url. Who is not connected yet is
// told so, and not refused: a page would show a button then.
func show(in Asking) (Profile, error) {
	url, err := armature.Config[string]("userinfo_url")
	if err != nil {
		return Profile{}, err
	}
	if url == "" {
		return Profile{}, armature.Invalid("userinfo_url is not configured")
	}
	answer, err := armature.FetchConnected(in.App, armature.HTTPRequest{URL: url, Headers: map[string]string{"accept": "application/json"}})
	if e, ok := err.(*armature.Error); ok && (e.Type == "NotConnectedError" || e.Type == "ConnectionBrokenError") {
		return Profile{}, nil
	}
	if err != nil {
		return Profile{}, err
	}
	if answer.Status != 200 {
		return Profile{}, armature.Invalid("the service answered " + strconv.Itoa(answer.Status))
	}
	p := Profile{Connected: true}
	return p, json.Unmarshal(answer.Body, &p.Claims)
}

// What encoding/json has to find out about these types is found out once, before
// the first call.
func init() { armature.Prepare(Asking{}, Profile{}) }
