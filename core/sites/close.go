package sites

// release gives the site back after a request.
func (t *Tenant) release() {
	if t.pins.drop() {
		t.end()
	}
}

// end closes a tenant that is retired and that nobody holds any more.
func (t *Tenant) end() {
	t.close()
	if plugins := t.set.c.Plugins; plugins != nil && t.set.table.Load().byName[t.Site.Name] != t.entry {
		// Dropped while requests ran, which may have kept something since. A site of
		// the same name opens after this.
		plugins.Forget(t.Site.Name)
	}
	t.entry.tenant.CompareAndSwap(t, nil)
	t.set.notLatest(t)
	close(t.ended)
	t.set.open.Done()
}

// close ends the site's plugins and its database. Nobody may hold it any more.
func (t *Tenant) close() {
	if t.set.c.Plugins != nil {
		t.set.c.Plugins.Shut(t.Site.Name)
	}
	t.stopPost()
	t.stopAuthSweep()
	t.Connected.Close()
	if err := t.storage.Close(); err != nil {
		t.log.Error("close the file storage", "error", err)
	}
	if err := t.Store.Close(); err != nil {
		t.log.Error("close the database", "error", err)
	}
}
