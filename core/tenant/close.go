package tenant

// Close ends the site's plugins, what goes on in its background, and its database.
// Nobody may use it any more.
func (t *Tenant) Close() {
	if err := t.close(); err != nil {
		t.log.Error("close the site", "error", err)
	}
}

func (t *Tenant) close() error {
	t.plugins.Close()
	return t.opened.close()
}
