package scripttest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"time"

	"armature/core/fault"
)

// question is what the stub asks for where a script would read its settings.
type question struct {
	What   string         `json:"what"`
	Method string         `json:"method"` // of arguments: the path
	Args   map[string]any `json:"args"`
	URL    string         `json:"url"` // of reach
	Ms     float64        `json:"ms"`  // of clock: since 1970
}

// answer is for what the stub cannot do as the server does it: checking arguments
// by their schema and hosts by the manifest, and setting the clock.
func (r *Runner) answer(_ context.Context, key string) (json.RawMessage, error) {
	var q question
	dec := json.NewDecoder(bytes.NewReader([]byte(key)))
	dec.UseNumber()
	if err := dec.Decode(&q); err != nil {
		return nil, fault.New(fault.BadRequest, "DataError", "The request body must be a JSON object")
	}
	switch q.What {
	case "arguments":
		return r.arguments(q)
	case "reach":
		if r.plugin != nil && !r.cfg.Reaches(r.plugin.AllowedHosts, q.URL) {
			return nil, fault.Denied("%s is not a host that may be reached", hostOf(q.URL))
		}
	case "clock":
		r.now = time.UnixMilli(int64(q.Ms)).UTC()
	}
	return nil, nil
}

// arguments are what a method gets.
func (r *Runner) arguments(q question) (json.RawMessage, error) {
	for _, m := range r.plugin.Methods {
		if m.Path != q.Method {
			continue
		}
		declared := m.Arguments()
		values := q.Args
		if declared != nil {
			values, _ = declared.Convert(values)
			if err := declared.Check(values); err != nil {
				return nil, err
			}
		}
		return json.Marshal(values)
	}
	return nil, fault.Missing("The manifest has no method %s", q.Method)
}

func hostOf(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Host
	}
	return text
}
