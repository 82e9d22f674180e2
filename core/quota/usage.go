package quota

import (
	"context"
	"encoding/json"

	"armature/core/identity"
	"armature/core/method"
)

// Amount is one quota and how much of it is used.
type Amount struct {
	Used  int64
	Quota int64 // 0: there is none
}

// MarshalJSON writes null for a quota that there is not.
func (a Amount) MarshalJSON() ([]byte, error) {
	shown := struct {
		Used  int64  `json:"used"`
		Quota *int64 `json:"quota"`
	}{a.Used, nil}
	if a.Quota > 0 {
		shown.Quota = &a.Quota
	}
	return json.Marshal(shown)
}

// Usage is what the site has, by the names of quotas, measured again where the last
// measurement is more than a second old, or more than a hundred times as long as
// measuring takes.
func (m *Meter) Usage(ctx context.Context) (map[string]Amount, error) {
	q := m.c.Quotas()
	all := map[string]Amount{}
	for _, b := range m.bounds(&q) {
		if b.gauge != nil && b.gauge.stale(true) {
			if err := b.gauge.refresh(ctx); err != nil {
				return nil, err
			}
		}
		all[b.name] = Amount{b.now(), *b.most}
	}
	return all, nil
}

// Known is what the site has of what it has quotas for, as far as it was measured.
func (m *Meter) Known() map[string]Amount {
	q := m.c.Quotas()
	all := map[string]Amount{}
	for _, b := range m.bounds(&q) {
		if *b.most > 0 && (b.gauge == nil || b.gauge.known()) {
			all[b.name] = Amount{b.now(), *b.most}
		}
	}
	return all
}

// Methods is framework.site.usage, for System Managers: of each quota, how much of
// it is used, and how much the operator lets the site have.
func (m *Meter) Methods() []*method.Method {
	return []*method.Method{{
		Path: "framework.site.usage", Tier: method.Named, Roles: []string{identity.SystemManager},
		Description: "How much the site has of what its operator bounds: documents, database_bytes, file_bytes, plugin_bytes, kv_bytes, jobs, requests. Each has used, and quota, which is null where there is none.",
		Func:        func(ctx context.Context, _ *method.Call) (any, error) { return m.Usage(ctx) },
	}}
}
