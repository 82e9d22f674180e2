package tenant

import (
	"armature/core/file"
	"armature/core/method"
	"armature/core/public"
	"armature/core/route"
)

// register has every service say which methods, raw methods and pages it has.
func (t *Tenant) register() (err error) {
	own := [][]*method.Method{
		method.Framework(t.c.Version), t.Auth.Methods(), t.OAuth.Methods(), t.Shares.Methods(), t.Connected.Methods(), t.quota.Methods(),
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
	frontend := public.New(public.Config{Dir: t.home.Public, Logger: t.log})
	t.routes.AddPages(frontend.Home)
	t.routes.AddPages(t.web.Page)
	t.routes.AddPages(t.OAuth.Page)
	t.routes.AddPages(t.Files.Page)
	t.routes.AddPages(frontend.Page) // last: what the platform answers no file does
	return nil
}
