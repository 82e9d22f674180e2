package site

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// PluginLimits are what no call of a plugin on the site may exceed, whatever the
// server and the plugin's manifest allow. A zero field bounds nothing.
type PluginLimits struct {
	Memory    int // bytes
	CPUMs     int // milliseconds of counted execution
	WallMs    int // milliseconds on the clock, waiting included
	Depth     int // nested calls inside the guest
	Input     int // bytes of the input, and of each answer of the host
	Output    int // bytes of the output, and of each request to the host
	HostCalls int
	Log       int // bytes of all lines of a call
	HTTP      int // outgoing requests
	TxMs      int // milliseconds on the clock that a transaction is kept open
}

// PluginLimits bounds the calls of plugins (key "plugin_limits").
func (c *Config) PluginLimits() PluginLimits { return c.pluginLimits }

// RecordFailedCalls reports whether failed calls of plugins are kept (key
// "record_failed_calls").
func (c *Config) RecordFailedCalls() bool { return c.recordFailed }

// PrivateHosts are patterns of the hosts on this machine or a private network that
// plugins may be given (key "allowed_private_hosts"). The caller must not change
// the list.
func (c *Config) PrivateHosts() []string { return c.privateHosts }

// Plugin returns a setting of a plugin (key "plugins", then the plugin's name);
// nil when it is not set.
func (c *Config) Plugin(name, key string) json.RawMessage { return c.plugins[name][key] }

func readPlugins(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.plugins); err != nil {
		return fmt.Errorf("must be an object such as {\"acme.todo\": {\"limit\": 10}}")
	}
	return nil
}

// pluginLimit is a key of plugin_limits. The largest values are what a module of
// 32-bit addresses could use, and a day: far over what any server allows.
type pluginLimit struct {
	unit    string
	largest int
	field   func(*PluginLimits) *int
}

var pluginLimits = map[string]pluginLimit{
	"memory":     {"bytes", 1<<31 - 1, func(l *PluginLimits) *int { return &l.Memory }},
	"cpu_ms":     {"milliseconds", 86_400_000, func(l *PluginLimits) *int { return &l.CPUMs }},
	"wall_ms":    {"milliseconds", 86_400_000, func(l *PluginLimits) *int { return &l.WallMs }},
	"depth":      {"calls", 1<<31 - 1, func(l *PluginLimits) *int { return &l.Depth }},
	"input":      {"bytes", 1<<31 - 1, func(l *PluginLimits) *int { return &l.Input }},
	"output":     {"bytes", 1<<31 - 1, func(l *PluginLimits) *int { return &l.Output }},
	"host_calls": {"calls", 1<<31 - 1, func(l *PluginLimits) *int { return &l.HostCalls }},
	"log":        {"bytes", 1<<31 - 1, func(l *PluginLimits) *int { return &l.Log }},
	"http":       {"requests", 1<<31 - 1, func(l *PluginLimits) *int { return &l.HTTP }},
	"tx_ms":      {"milliseconds", 86_400_000, func(l *PluginLimits) *int { return &l.TxMs }},
}

func readPluginLimits(c *Config, value json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(value, &given); err != nil {
		return fmt.Errorf("must be an object such as {\"memory\": 33554432, \"cpu_ms\": 50}")
	}
	c.pluginLimits = PluginLimits{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		limit, ok := pluginLimits[key]
		if !ok {
			known := slices.Sorted(maps.Keys(pluginLimits))
			return fmt.Errorf("there is no limit %q; there are %s", key, strings.Join(known, ", "))
		}
		n, err := strconv.Atoi(string(given[key]))
		if err != nil || n < 1 || n > limit.largest {
			return fmt.Errorf("%s must be a whole number of %s from 1 to %d, not %s", key, limit.unit, limit.largest, given[key])
		}
		*limit.field(&c.pluginLimits) = n
	}
	return nil
}

func readRecordFailed(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.recordFailed); err != nil {
		return fmt.Errorf("must be true or false")
	}
	return nil
}

// RefusesUnknown reports whether a write that names a field its DocType does not have
// is refused; else the answer names the field.
func (c *Config) RefusesUnknown() bool { return c.refusesUnknown }

func readUnknownFields(c *Config, value json.RawMessage) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil || text != "name" && text != "refuse" {
		return fmt.Errorf(`must be "name" or "refuse"`)
	}
	c.refusesUnknown = text == "refuse"
	return nil
}

// Publishers are the public keys by one of which a plugin has to be signed (key
// "plugin_publishers"); none: it need not be. The caller must not change the list.
func (c *Config) Publishers() []string { return c.publishers }

// publicKey is how a public key of minisign begins: the letters of its algorithm,
// then eight bytes by which it is known and the 32 of an Ed25519 key.
const publicKey, publicKeySize = "Ed", 2 + 8 + 32

func readPublishers(c *Config, value json.RawMessage) error {
	c.publishers = nil
	var one string
	if json.Unmarshal(value, &one) == nil {
		value, _ = json.Marshal([]string{one})
	}
	if err := json.Unmarshal(value, &c.publishers); err != nil {
		return fmt.Errorf("must be a list of public keys of minisign")
	}
	for _, text := range c.publishers {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) != publicKeySize || !strings.HasPrefix(string(key), publicKey) {
			return fmt.Errorf("%q is no public key of minisign, which looks like RWQ... and has 56 letters", text)
		}
	}
	return nil
}

// readPrivateHosts reads a list of patterns; whoever reaches out knows what a
// pattern is.
func readPrivateHosts(c *Config, value json.RawMessage) error {
	if err := json.Unmarshal(value, &c.privateHosts); err != nil {
		return fmt.Errorf("must be a list of hosts such as [\"10.0.0.5:8080\"]")
	}
	return nil
}
