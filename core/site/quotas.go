package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// QuotasKey is the key of the configuration that has the quotas.
const QuotasKey = "quotas"

// Quotas are how much the operator lets the site have. A zero field bounds nothing.
type Quotas struct {
	Documents     int64 // documents of all DocTypes but the platform's own
	DatabaseBytes int64 // of the database, indexes and what was deleted included
	FileBytes     int64 // of uploaded files
	PluginBytes   int64 // of the bundles of plugins that were installed, all versions
	KVBytes       int64 // of memory in each server, for what plugins keep for a while
	Jobs          int64 // that wait or run; 0: a million
	Requests      int64 // that each server works on at a time
	Streams       int64 // of live changes that each server has open at a time
}

// Quotas bounds what the site may have (QuotasKey).
func (c *Config) Quotas() Quotas { return c.quotas }

// QuotaNames are the keys of quotas, in the order in which people are shown them.
func QuotaNames() []string {
	return []string{"documents", "database_bytes", "file_bytes", "plugin_bytes", "kv_bytes", "jobs", "requests", "streams"}
}

// Field is the quota of a name; nil where there is none of it.
func (q *Quotas) Field(name string) *int64 {
	switch name {
	case "documents":
		return &q.Documents
	case "database_bytes":
		return &q.DatabaseBytes
	case "file_bytes":
		return &q.FileBytes
	case "plugin_bytes":
		return &q.PluginBytes
	case "kv_bytes":
		return &q.KVBytes
	case "jobs":
		return &q.Jobs
	case "requests":
		return &q.Requests
	case "streams":
		return &q.Streams
	}
	return nil
}

// maxQuota is as much as JavaScript and every JSON library count exactly.
const maxQuota = 1 << 53

func readQuotas(c *Config, value json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(value, &given); err != nil {
		return fmt.Errorf("must be an object such as {\"documents\": 100000, \"database_bytes\": 1073741824}")
	}
	c.quotas = Quotas{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		field := c.quotas.Field(name)
		if field == nil {
			return fmt.Errorf("there is no quota %q; there are %s", name, strings.Join(QuotaNames(), ", "))
		}
		n, err := strconv.ParseInt(string(given[name]), 10, 64)
		if err != nil || n < 1 || n > maxQuota {
			return fmt.Errorf("%s must be a whole number from 1 to %d, not %s", name, int64(maxQuota), given[name])
		}
		*field = n
	}
	return nil
}
