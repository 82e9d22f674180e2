package installed_test

import (
	"net/http"
	"path/filepath"
	"testing"
)

// TestCounts: what all processes have called is in the plugin's document, and
// what a closing site has not written down yet, too.
func TestCounts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.db")
	a, b := start(t, file, t.TempDir()), start(t, file, t.TempDir())
	a.approved(plugin(t, "1", nil, "doc_get"))
	b.sync()
	call := func(p *process, path string) error {
		_, err := p.call(http.MethodPost, path, m{"doctype": "ToDo", "name": "none"})
		return err
	}
	counted := func(calls, failed float64) {
		t.Helper()
		if r := b.record(); r["calls"] != calls || r["failed_calls"] != failed {
			t.Errorf("%v calls, %v failed, want %v and %v", r["calls"], r["failed_calls"], calls, failed)
		}
	}
	for range 3 {
		if err := call(a, "acme.a.echo"); err != nil {
			t.Fatal(err)
		}
	}
	if call(b, "acme.a.doc_get") == nil || call(b, "acme.a.echo") != nil {
		t.Fatal("one was to fail, the other not")
	}
	counted(0, 0)
	a.installed.Count(t.Context())
	b.installed.Count(t.Context())
	a.installed.Count(t.Context())
	counted(5, 1)
	a.install(plugin(t, "2", nil))
	if err := call(a, "acme.a.echo"); err != nil {
		t.Fatal(err)
	}
	a.installed.Close()
	b.sync()
	b.serves("2")
	counted(6, 1)
}
