package site_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/site"
)

func TestParseConfig(t *testing.T) {
	c, err := site.ParseConfig([]byte(`{
		"hosts": ["Docs.Example.org:8000"], "time_zone": "Asia/Kolkata", "max_file_size": 1024,
		"method_aliases": {"old.": "framework.", "old.desk.": "framework.client."},
		"rate_limit": {"limit": 0.5, "window": 60}, "future": {"kept": true},
		"plugins": {"acme.todo": {"limit": 10}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Hosts(); len(got) != 1 || got[0] != "docs.example.org" {
		t.Errorf("hosts = %q", got)
	}
	if c.Location().String() != "Asia/Kolkata" || c.MaxFileSize() != 1024 {
		t.Errorf("zone %s, size %d", c.Location(), c.MaxFileSize())
	}
	if got := c.Aliases(); len(got) != 2 || got["old."] != "framework." {
		t.Errorf("aliases = %v", got)
	}
	if got := string(c.Plugin("acme.todo", "limit")); got != "10" || c.Plugin("acme.note", "limit") != nil {
		t.Errorf("the plugin's limit = %q", got)
	}
	text, err := json.Marshal(c)
	if err != nil || !strings.Contains(string(text), `"future":{"kept":true}`) {
		t.Errorf("an unknown key is lost: %s, %v", text, err)
	}
}

func TestParseConfigRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"not an object", `[1]`, "site configuration"},
		{"hosts as text", `{"hosts": "a"}`, "hosts"},
		{"host with a path", `{"hosts": ["a/b"]}`, "hosts"},
		{"unknown zone", `{"time_zone": "Mars/Base"}`, "time_zone"},
		{"the machine's zone", `{"time_zone": "Local"}`, "time_zone"},
		{"size of nothing", `{"max_file_size": 0}`, "max_file_size"},
		{"a limit of plugins that is none", `{"plugin_limits": {"memroy": 1}}`, `plugin_limits: there is no limit "memroy"; there are cpu_ms, `},
		{"limits as a list", `{"plugin_limits": [1]}`, "plugin_limits: must be an object"},
		{"a limit of nothing", `{"plugin_limits": {"cpu_ms": 0}}`, "cpu_ms must be a whole number of milliseconds from 1 to"},
		{"half a limit", `{"plugin_limits": {"memory": 1.5}}`, "memory must be a whole number of bytes"},
		{"a limit as text", `{"plugin_limits": {"log": "1k"}}`, `not "1k"`},
		{"a limit beyond all bounds", `{"plugin_limits": {"depth": 99999999999}}`, "depth must be"},
		{"yes is not true", `{"record_failed_calls": "yes"}`, "record_failed_calls: must be true or false"},
		{"one private host", `{"allowed_private_hosts": "10.0.0.5"}`, "allowed_private_hosts: must be a list"},
		{"plugins as a list", `{"plugins": ["acme.todo"]}`, "plugins"},
		{"empty alias", `{"method_aliases": {"": "x."}}`, "method_aliases"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := site.ParseConfig([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one about %s", err, tt.want)
			}
		})
	}
}

func TestPluginLimits(t *testing.T) {
	c, err := site.ParseConfig([]byte(`{"plugin_limits": {"memory": 1, "cpu_ms": 2, "wall_ms": 3, "depth": 4,
		"input": 5, "output": 6, "host_calls": 7, "log": 8, "http": 9, "tx_ms": 10}, "record_failed_calls": true}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.PluginLimits(), (site.PluginLimits{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}); got != want || !c.RecordFailedCalls() {
		t.Errorf("limits %+v, want %+v", got, want)
	}
	c, err = c.With("plugin_limits", json.RawMessage(`{"log": 10}`))
	if err != nil || c.PluginLimits() != (site.PluginLimits{Log: 10}) {
		t.Errorf("replaced: %+v, %v", c.PluginLimits(), err)
	}
	c, err = c.With("plugin_limits", json.RawMessage(`null`))
	if err != nil || c.PluginLimits() != (site.PluginLimits{}) {
		t.Errorf("removed: %+v, %v", c.PluginLimits(), err)
	}
}

func TestConfigWith(t *testing.T) {
	empty := &site.Config{}
	one, err := empty.With("time_zone", json.RawMessage(`"Europe/Paris"`))
	if err != nil {
		t.Fatal(err)
	}
	if empty.Location() != time.UTC || one.Location().String() != "Europe/Paris" {
		t.Errorf("With changed the wrong one: %s, %s", empty.Location(), one.Location())
	}
	none, err := one.With("time_zone", json.RawMessage(`null`))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := none.Get("time_zone"); ok || none.Location() != time.UTC {
		t.Error("null did not remove the key")
	}
	if _, err := one.With("time_zone", json.RawMessage(`Europe`)); err == nil {
		t.Error("a value that is not JSON passed")
	}
}

// TestMendConfig: a key that cannot be used is removed or set again, whatever
// else is there.
func TestMendConfig(t *testing.T) {
	broken, err := site.ParseConfig([]byte(`{"time_zone": "Nowhere", "max_file_size": 10}`))
	if err == nil || broken == nil {
		t.Fatalf("%v, %v", broken, err)
	}
	if _, err := broken.With("max_file_size", json.RawMessage(`20`)); err == nil {
		t.Error("mended by another key")
	}
	mended, err := broken.With("time_zone", json.RawMessage(`null`))
	if err != nil || mended.MaxFileSize() != 10 {
		t.Errorf("%v", err)
	}
	if broken, err := site.ParseConfig([]byte(`{`)); err == nil || broken != nil {
		t.Errorf("no JSON: %v, %v", broken, err)
	}
}

func TestHosts(t *testing.T) {
	c, err := site.ParseConfig([]byte(`{"hosts": ["A.example:8000", "b.example.", "[::1]", "[::1]:80"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Hosts(), []string{"a.example", "b.example", "::1", "::1"}; !slices.Equal(got, want) {
		t.Errorf("hosts %q, want %q", got, want)
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"default": true, "a": true, "docs.example.org": true, "a-b_c": true,
		"": false, "..": false, "a/b": false, "A": false, ".hidden": false, "a..b": false, "a.": false,
		strings.Repeat("x", 49): false,
	} {
		if err := site.CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}
