package tenant

import (
	"net/http"
	"slices"

	"armature/core/apps"
	"armature/core/console"
	"armature/core/docs/explorer"
	"armature/core/docs/guide"
	"armature/core/fault"
	"armature/core/file"
	"armature/core/httpapi"
	"armature/core/mcp"
	"armature/core/method"
	"armature/core/metrics"
	"armature/core/public"
	"armature/core/public/publish"
	"armature/core/route"
	"armature/core/web"
)

// register has every service say which methods, raw methods and pages it has.
func (t *Tenant) register() (err error) {
	own := [][]*method.Method{
		method.Framework(t.c.Version), t.Auth.Methods(), t.OAuth.Methods(), t.Shares.Methods(), t.Connected.Methods(), t.quota.Methods(), t.frontends.Methods(),
		t.Jobs.Methods(), t.Schedules.Methods(), t.Webhooks.Methods(), t.Letters.Methods(),
	}
	if t.table, err = method.NewTable(append(own, t.c.Methods...)...); err != nil {
		return err
	}
	for _, raw := range [][]*route.Raw{t.web.Raw(), t.Connected.Raw(), t.OAuth.Raw(), t.Files.Raw()} {
		if err := t.routes.Add(raw...); err != nil {
			return err
		}
	}
	if uploads, ok := t.invoker.(file.Uploads); ok {
		t.routes.AddFound(file.Taking(uploads, t.Methods))
	}
	t.routes.AddFound(file.Taking(t.frontends, t.Methods))
	apiPage := explorer.New(explorer.Config{Name: t.address.Name, Token: t.Auth.CSRFToken})
	documents := console.New(console.Config{Name: t.address.Name, Token: t.Auth.CSRFToken, Login: web.LoginPath})
	handbook := guide.New(guide.Config{Name: t.address.Name})
	agents := mcp.New(mcp.Config{
		Store: t.Store, Documents: t.Documents, Methods: t.Methods, Files: t.Files,
		On:    func() bool { return t.Site.Config().MCP() },
		Named: func() []string { return t.Site.Config().MCPTools() },
		Name:  t.address.Name, Version: t.c.Version, Metadata: t.OAuth.ResourceMetadata, Base: t.address.Base,
		Admits: func(r *http.Request, origin string) bool {
			return origin == t.address.Base(r) || slices.Contains(t.Site.Config().Origins(), "*") || t.Site.Config().TrustsOrigin(origin)
		},
		Record: t.keepCall, Confirms: t.confirms, Confirmations: t.confirmations,
		Logger: t.log,
	})
	for _, pages := range [][]route.Page{t.web.Routes(), documents.Pages(), agents.Pages(), apiPage.Pages(), handbook.Pages(), t.OAuth.Pages(), t.Files.Pages()} {
		if err := t.routes.AddPages(pages...); err != nil {
			return err
		}
	}
	if err := t.routes.AddPages(route.Page{Path: metrics.Path, Serve: elsewhere}, route.Page{Path: apps.Prefix, Serve: elsewhere}); err != nil {
		return err
	}
	frontend := public.New(public.Config{
		Dir: t.home.Public, Published: t.frontends.Folders, Logger: t.log,
		Live: func() bool { return t.c.Live || t.Site.Config().LiveReload() },
	})
	t.routes.AddRest(frontend.Home)
	t.routes.AddRest(t.web.Home)
	t.routes.AddRest(func(path string) route.Handler {
		if frontend.Has(path) {
			return nil // a site may say there itself what programs shall read
		}
		return handbook.ForPrograms(path)
	})
	t.routes.AddRest(frontend.Page)
	return nil
}

// elsewhere answers what the server does before it asks a site, where it does not, and of the
// plugins' pages those that are not there.
func elsewhere(http.ResponseWriter, *http.Request, *route.Call) error {
	return fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")
}

// openFrontends makes what keeps the frontends that were published.
func (t *Tenant) openFrontends() {
	t.frontends = publish.New(publish.Config{
		Dir: t.home.Published, Reserved: t.Reserved, Admit: t.quota.AdmitFiles, Count: t.quota.CountFiles, Now: t.c.Now, Logger: t.log,
	})
}

// Paths are those of the platform's pages, sorted; one that ends in a slash stands for
// what is below.
func (t *Tenant) Paths() []string { return t.routes.Paths() }

// Reserved reports whether a path is the platform's, so that no file of a frontend is
// ever served there.
func (t *Tenant) Reserved(path string) bool {
	return httpapi.Reserved(path) || t.routes.Reserved(path)
}
