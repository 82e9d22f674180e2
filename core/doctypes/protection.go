package doctypes

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"armature/core/access"
)

// guarded is what a definition says of how far plugins reach.
type guarded struct {
	Name       string   `json:"name"`
	Protection string   `json:"protection"` // ordinary or platform
	Fields     []string `json:"protected_fields"`
	Decided    []string `json:"decided_fields"`
}

// Protection says of each built-in DocType how far plugins reach. One that does
// not say so itself is the platform's own.
func Protection() (map[string]access.Protection, error) {
	all, err := protection()
	return maps.Clone(all), err
}

var protection = sync.OnceValues(func() (map[string]access.Protection, error) {
	names, err := files.ReadDir("definitions")
	if err != nil {
		return nil, err
	}
	all := map[string]access.Protection{}
	for _, entry := range names {
		text, err := files.ReadFile("definitions/" + entry.Name())
		if err != nil {
			return nil, err
		}
		var g guarded
		if err := json.Unmarshal(text, &g); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		all[g.Name] = access.Protection{Platform: g.Protection != "ordinary", Fields: g.Fields, Decided: g.Decided}
	}
	return all, nil
})
