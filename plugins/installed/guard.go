package installed

import (
	"context"

	"armature/core/document"
	"armature/core/fault"
	"armature/plugins/registry"
)

// guard keeps the records of plugins from being written by anybody but this
// package: a plugin that runs for the Administrator, or elevated, could approve
// itself otherwise. Every other DocType's events go to the plugins.
type guard struct{ *registry.Site }

// Hooks are the handlers of the site's plugins, and the guard of its records.
func (s *Site) Hooks() document.Hooks { return guard{s.cfg.Table} }

// Handles satisfies document.Hooks.
func (g guard) Handles(doctype string) bool { return guarded(doctype) || g.Site.Handles(doctype) }

// Guest satisfies document.Hooks.
func (g guard) RunsPlugins(doctype string) bool {
	return !guarded(doctype) && g.Site.RunsPlugins(doctype)
}

// Run satisfies document.Hooks.
func (g guard) Run(ctx context.Context, ev *document.Event) error {
	if !guarded(ev.Doc.Type.Name) {
		return g.Site.Run(ctx, ev)
	}
	if ctx.Value(writerKey{}) == nil {
		return fault.Denied("%s is written by framework.plugins only", ev.Doc.Type.Name)
	}
	return nil
}

func guarded(doctype string) bool { return doctype == pluginType || doctype == versionType }

// writerKey marks the contexts in which this package writes.
type writerKey struct{}

func asWriter(ctx context.Context) context.Context {
	return context.WithValue(ctx, writerKey{}, true)
}
