package tenant

import (
	"context"

	"armature/core/document"
	"armature/core/method"
)

// Plugins opens the plugins of sites. Core knows them by this alone; cmd connects
// it to plugins/supervisor.
type Plugins interface {
	// Open opens the plugins of a site that is being opened. t has its Site, Store
	// and Auth by then, and the rest from the first Refresh on.
	Open(ctx context.Context, t *Tenant) (PluginSite, error)
	// Forget drops what outlives a nap of the site: it was dropped. Its PluginSite,
	// if there was one, is closed.
	Forget(site string)
}

// PluginSite is the plugins of one open site.
type PluginSite interface {
	// Invoker is their methods.
	Invoker() method.Invoker
	// Hooks are their handlers of events; nil: there are none.
	Hooks() document.Hooks
	// Refresh takes over what the site's database says of plugins. It is called
	// once the services of the site can be used and before its first request, and
	// before a request that comes after a while without any.
	Refresh(ctx context.Context)
	// KVBytes is the memory of this process that they keep something in for a while.
	KVBytes() int64
	// Close ends them. Nobody calls them any more.
	Close()
}

// noPlugins is the plugins of a site where there are none.
type noPlugins struct{}

func (noPlugins) Invoker() method.Invoker { return nil }
func (noPlugins) Hooks() document.Hooks   { return nil }
func (noPlugins) Refresh(context.Context) {}
func (noPlugins) KVBytes() int64          { return 0 }
func (noPlugins) Close()                  {}
