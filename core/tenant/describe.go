package tenant

import (
	"armature/core/access"
	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/openapi"
)

// describe makes the OpenAPI document of what a caller may do on the site.
func (t *Tenant) describe(caller *identity.Caller, server string) ([]byte, error) {
	callable := t.Methods().Callable(caller)
	methods := make([]openapi.Method, len(callable))
	for i, m := range callable {
		methods[i] = openapi.Method{
			Path: m.Path, Description: m.Description, Verbs: m.Verbs, AllowGuest: m.AllowGuest,
			Args: m.ArgsSchema, Result: m.ResultSchema,
		}
	}
	info := openapi.Info{Title: "Armature: " + t.Site.Name, Version: t.c.Version, Server: server}
	if info.Version == "" {
		info.Version = "0"
	}
	return openapi.Document(info, t.Documents.Schema(), methods, caller, func(dt *doctype.DocType, right access.Right) bool {
		return access.Reaches(caller, dt, right)
	})
}
