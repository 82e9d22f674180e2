package registry

import (
	"strings"

	"armature/core/fault"
)

// Scope is where plugins are installed: one site, or all of them.
type Scope struct {
	r         *Registry
	site      *Site         // nil: all sites
	installed []*Generation // guarded by Registry.mu
}

// Swap makes g serve in its scope, in place of the generation from the same
// source if there is one, and takes g over. The error is a fault, and nothing
// has changed, when a plugin from another source stands in the way.
func (c *Scope) Swap(g *Generation) error {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.closed() {
		return fault.New(fault.Unavailable, "", "The site of %s is closed", g.Manifest.Name)
	}
	if err := c.collides(g); err != nil {
		return err
	}
	c.change(g.Source, g)
	return nil
}

// Check returns the error that Swap would, of an open site.
func (c *Scope) Check(g *Generation) error {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return c.collides(g)
}

// Remove retires what serves from the source and reports whether anything did.
func (c *Scope) Remove(source string) bool {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return c.change(source, nil)
}

// Generation returns what serves from the source, or nil.
func (c *Scope) Generation(source string) *Generation {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	for _, g := range c.installed {
		if g.Source == source {
			return g
		}
	}
	return nil
}

// closed reports whether the scope is that of a site that is not open any more.
func (c *Scope) closed() bool {
	if c.site == nil {
		return false
	}
	_, open := c.r.sites[c.site]
	return !open
}

// change replaces the generation of a source by next, which may be nil. Tables
// are published before the old one is retired: who fails to pin it then finds a
// newer table.
func (c *Scope) change(source string, next *Generation) bool {
	var old *Generation
	after := make([]*Generation, 0, len(c.installed)+1)
	for _, g := range c.installed {
		if g.Source == source {
			old = g
		} else {
			after = append(after, g)
		}
	}
	if next != nil {
		next.use()
		after = append(after, next)
	}
	c.installed = after
	for s := range c.r.sites {
		if c.site != nil && c.site != s {
			continue
		}
		if next != nil {
			s.keep(old)
		}
		s.settle()
	}
	if old != nil {
		old.disuse()
	}
	return old != nil
}

func (c *Scope) collides(g *Generation) error {
	for _, other := range c.beside() {
		if err := collision(g, other); other.Source != g.Source && err != nil {
			return err
		}
	}
	return nil
}

// beside lists what a plugin of the scope shares some site with.
func (c *Scope) beside() []*Generation {
	if c.site == nil {
		return c.r.everywhere()
	}
	return c.site.all()
}

// collision says why two plugins cannot serve one site: the paths below a name
// belong to one plugin.
func collision(a, b *Generation) error {
	switch an, bn := a.Manifest.Name, b.Manifest.Name; {
	case an == bn:
		return fault.New(fault.Conflict, "", "The plugin %s from %s is installed already, from %s", an, a.Source, b.Source)
	case strings.HasPrefix(an, bn+"."), strings.HasPrefix(bn, an+"."):
		return fault.New(fault.Conflict, "", "The plugin name %s (%s) collides with %s (%s): neither may begin with the other", an, a.Source, bn, b.Source)
	}
	return nil
}
