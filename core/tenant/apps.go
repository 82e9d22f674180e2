package tenant

import (
	"armature/core/apps"
	"armature/core/apps/app"
	"armature/core/oauth"
)

// openApps makes what serves the pages of plugins.
func (t *Tenant) openApps() {
	t.apps = apps.New(apps.Config{
		Source: pages{t}, Host: func() string { return t.Site.Config().AppsHost() }, Address: func() string { return t.address.URL() }, Secret: t.Site.Secret, Now: t.Site.Now,
		Authorize: "/api/method/" + oauth.Prefix + "authorize", Token: "/api/method/" + oauth.Prefix + "get_token",
	})
}

// pages are those of the site's plugins, which are opened after it, if there are any.
type pages struct{ t *Tenant }

// App implements apps.Source.
func (p pages) App(plugin string) *app.App {
	if from, ok := p.t.invoker.(apps.Source); ok {
		return from.App(plugin)
	}
	return nil
}

// Apps implements apps.Source.
func (p pages) Apps() map[string]bool {
	if from, ok := p.t.invoker.(apps.Source); ok {
		return from.Apps()
	}
	return nil
}
