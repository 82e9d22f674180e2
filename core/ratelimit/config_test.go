package ratelimit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/ratelimit"
)

// setting is a configuration of one key, about which nobody has asked core/site.
type setting struct {
	key   string
	value json.RawMessage
}

func (s setting) Get(key string) (json.RawMessage, bool) { return s.value, key == s.key }
func (s setting) Location() *time.Location               { return time.UTC }

func TestCheckRefuses(t *testing.T) {
	tests := []struct {
		name, key, value string
		want             string // in the message
	}{
		{"not an object", "rate_limit", `600`, "rate_limit: must be an object with limit, window"},
		{"a list", "rate_limit", `[1, 2]`, "rate_limit: must be an object"},
		{"empty", "rate_limit", `{}`, "rate_limit: limit is missing"},
		{"no window", "rate_limit", `{"limit": 1}`, "rate_limit: window is missing"},
		{"null", "rate_limit", `{"limit": 1, "window": null}`, "rate_limit: window is missing"},
		{"unknown key", "rate_limit", `{"limit": 1, "window": 1, "windows": 1}`, `rate_limit: the key "windows" is unknown; it may have limit, window`},
		{"wrong case", "rate_limit", `{"Limit": 1, "window": 1}`, `the key "Limit" is unknown`},
		{"text", "rate_limit", `{"limit": "1", "window": 60}`, `rate_limit.limit: must be a number of seconds, not "1"`},
		{"true", "rate_limit", `{"limit": 1, "window": true}`, "rate_limit.window: must be a number of seconds, not true"},
		{"negative limit", "rate_limit", `{"limit": -1, "window": 60}`, "rate_limit.limit: must be 1e-06 to 31622400 seconds, not -1"},
		{"no limit", "rate_limit", `{"limit": 0, "window": 60}`, "rate_limit.limit"},
		{"less than a microsecond", "rate_limit", `{"limit": 0.0000004, "window": 60}`, "rate_limit.limit"},
		{"zero window", "rate_limit", `{"limit": 1, "window": 0}`, "rate_limit.window: must be 1 to 31622400 seconds, not 0"},
		{"negative window", "rate_limit", `{"limit": 1, "window": -60}`, "rate_limit.window"},
		{"absurd window", "rate_limit", `{"limit": 1, "window": 1e300}`, "rate_limit.window: must be 1 to 31622400 seconds, not 1e300"},
		{"no float holds it", "rate_limit", `{"limit": 1e400, "window": 60}`, "rate_limit.limit: must be a number of seconds, not 1e400"},
		{"long text", "rate_limit", `{"limit": "` + strings.Repeat("ö", 100) + `", "window": 60}`, "öö..."},

		{"unknown budget", "budgets", `{"users": {}}`, `budgets: the key "users" is unknown; it may have user, client, agents, methods, plugins`},
		{"wrong user budget", "budgets", `{"user": {"limit": 1}}`, "budgets.user: window is missing"},
		{"wrong client budget", "budgets", `{"client": 5}`, "budgets.client: must be an object"},
		{"methods not an object", "budgets", `{"methods": []}`, "budgets.methods: must be an object"},
		{"not a path", "budgets", `{"methods": {"a..b": {"limit": 1, "window": 1}}}`, `budgets.methods: "a..b" is neither the dotted path of a method nor prefix.*`},
		{"a star alone", "budgets", `{"methods": {"*": {"limit": 1, "window": 1}}}`, `"*" is neither`},
		{"a star inside", "budgets", `{"methods": {"a.*.b": {"limit": 1, "window": 1}}}`, `"a.*.b" is neither`},
		{"wrong method budget", "budgets", `{"methods": {"100%d.*": {"limit": 1, "window": 0}}}`, "budgets.methods[100%d.*].window: must be 1"},
		{"nameless plugin", "budgets", `{"plugins": {"": {"limit": 1, "window": 1}}}`, "needs the name of a plugin"},
		{"wrong plugin budget", "budgets", `{"plugins": {"acme": {"limit": [], "window": 1}}}`, "budgets.plugins[acme].limit: must be a number of seconds, not []"},

		{"limits not an object", "call_limits", `5`, "call_limits: must be an object"},
		{"not a method", "call_limits", `{"a b": {}}`, `call_limits: "a b" is neither`},
		{"unknown key", "call_limits", `{"a.b": {"window": 5}}`, `call_limits[a.b]: the key "window" is unknown`},
		{"half a call", "call_limits", `{"a.b": {"limit": 1.5}}`, "call_limits[a.b].limit: must be a whole number from 1 to 1000000000, not 1.5"},
		{"no calls", "call_limits", `{"a.b": {"limit": 0}}`, "call_limits[a.b].limit"},
		{"no time", "call_limits", `{"a.b": {"seconds": 0}}`, "call_limits[a.b].seconds: must be 1 to"},
		{"nobody's calls", "call_limits", `{"a.b": {"ip": false}}`, "call_limits[a.b]: needs one of ip, user and argument"},
		{"not a truth", "call_limits", `{"a.b": {"user": 1}}`, "call_limits[a.b].user: must be true or false, not 1"},
		{"not a name", "call_limits", `{"a.b": {"argument": ""}}`, "call_limits[a.b].argument: must be a name"},
		{"not verbs", "call_limits", `{"a.b": {"verbs": "POST"}}`, "call_limits[a.b].verbs: must be a list of names"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := ratelimit.Check(setting{tt.key, json.RawMessage(tt.value)})
			if err == nil {
				t.Fatal("accepted")
			}
			if e := fault.From(err); e.Kind != fault.Validation || !strings.Contains(e.Message, tt.want) {
				t.Errorf("%s: %q, want %q", e.ExcType(), e.Message, tt.want)
			}
		})
	}
}

func TestCheckAccepts(t *testing.T) {
	for _, text := range []string{
		``,
		`{}`,
		`{"rate_limit": null, "budgets": null, "call_limits": null}`,
		`{"rate_limit": {"limit": 600, "window": 3600}}`,
		`{"rate_limit": {"limit": 0.000001, "window": 1}}`,
		`{"rate_limit": {"limit": 31622400, "window": 31622400.0}}`,
		`{"budgets": {}}`,
		`{"budgets": {"user": {"limit": 1, "window": 60}, "client": null, "plugins": {"*": {"limit": 1, "window": 60}, "acme": null}}}`,
		`{"call_limits": {"acme.todo.send": {}, "acme.*": {"ip": false, "user": true, "argument": "email", "verbs": ["post"]}}}`,
	} {
		parse(t, text)
	}
}
