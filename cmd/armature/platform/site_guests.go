package platform

import (
	"context"
	"encoding/json"

	"armature/core/tenant"
	"armature/plugins/dispatch"
	"armature/plugins/manifest"
	"armature/plugins/supervisor"
)

// siteGuests is what an open site brings for its plugins.
type siteGuests struct {
	*Guests
	site *tenant.Tenant
}

// Open satisfies tenant.Plugins.
func (g *Guests) Open(ctx context.Context, t *tenant.Tenant) (tenant.PluginSite, error) {
	s := &siteGuests{g, t}
	opened, err := g.Supervisor.Open(ctx, supervisor.SiteConfig{
		Name: t.Site.Name, Folder: t.Home().Plugins, Services: s.services, Active: t.Active,
		Setting: s.setting, Publishers: s.publishers, Limits: s.limits,
		Fetch: s.fetch, Connected: s.connected(), Budget: t.Limiter(),
		KVBytes: s.kvBytes, Grow: t.Quota().GrowPlugins,
		Scheduled: s.scheduled,
		Record:    s.records, Failed: s.keepFailed, Logged: s.keepLog,
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (s *siteGuests) services() dispatch.Services {
	t := s.site
	return dispatch.Services{Documents: t.Documents, Methods: t.Methods(), Store: t.Store, Users: t.Auth, Later: t.Jobs}
}

func (s *siteGuests) scheduled(ctx context.Context) error { return s.site.Schedules.Follow(ctx) }

func (s *siteGuests) kvBytes() int64 { return s.site.Site.Config().Quotas().KVBytes }

func (s *siteGuests) publishers() []string { return s.site.Site.Config().Publishers() }

// limits are the site's for every call of a plugin.
func (s *siteGuests) limits() manifest.Limits {
	return manifest.Limits(s.site.Site.Config().PluginLimits())
}

func (s *siteGuests) setting(_ context.Context, plugin, key string) (json.RawMessage, error) {
	return s.Setting(s.site, plugin, key), nil
}

// Setting is a key of a plugin's configuration on a site; nil when it is not set.
func (g *Guests) Setting(t *tenant.Tenant, plugin, key string) json.RawMessage {
	if g.test != nil {
		if value, ok := g.test.Setting(key); ok {
			return value
		}
	}
	return t.Site.Config().Plugin(plugin, key)
}
