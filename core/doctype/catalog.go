package doctype

import "sync/atomic"

// Catalog holds the current Schema of a site behind one atomic pointer.
type Catalog struct {
	schema atomic.Pointer[Schema]
}

// NewCatalog makes a catalog holding sc.
func NewCatalog(sc *Schema) *Catalog {
	c := &Catalog{}
	c.schema.Store(sc)
	return c
}

// Schema is the current snapshot.
func (c *Catalog) Schema() *Schema { return c.schema.Load() }

// Publish replaces the snapshot unless a newer one is there already.
func (c *Catalog) Publish(sc *Schema) {
	for {
		old := c.schema.Load()
		if old != nil && old.Version > sc.Version {
			return
		}
		if c.schema.CompareAndSwap(old, sc) {
			return
		}
	}
}
