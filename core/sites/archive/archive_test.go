package archive_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/backup"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/public/publish"
	"armature/core/query"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/archive"
	"armature/core/sites/datafolder"
	"armature/core/sites/sitetest"
)

const passphrase = "open sesame"

// archived makes a site and an archive of it.
func archived(t *testing.T) (s *sites.Set, layout datafolder.Layout, file string) {
	t.Helper()
	s, layout = sitetest.NewSet(t, func(c *sites.Config) { c.PassphraseWork = 10 })
	on := sitetest.Create(t, s, "default")
	for n := range 300 {
		err := on.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			_, err := on.Documents.As(identity.Root(), tx).Insert(t.Context(), "ToDo", map[string]any{
				"description": strings.Repeat(fmt.Sprint(n*n*7919, " "), 100),
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, layout, backedUp(t, s, "default")
}

// backedUp makes an archive of a site.
func backedUp(t *testing.T, s *sites.Set, name string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "site.armature"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := archive.Backup(t.Context(), s, name, passphrase, f, nil); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func keep(t *testing.T, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "site.armature")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// untouched demands that nothing was made of a refused archive.
func untouched(t *testing.T, s *sites.Set, layout datafolder.Layout, want ...string) {
	t.Helper()
	list, err := s.Sites(t.Context())
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	if err != nil || fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("sites %v, %v", names, err)
	}
	if left, _ := filepath.Glob(filepath.Join(layout.Data, "restoring", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRestoreRefuses: an archive that is cut or changed anywhere is refused, and
// so is another passphrase, before anything is made.
func TestRestoreRefuses(t *testing.T) {
	s, layout, file := archived(t)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("an archive of %d bytes", len(whole))
	// Nobody is asked for a passphrase for any of them.
	refuse := func(what string, text []byte) {
		t.Helper()
		if _, err := backup.Inspect(t.Context(), keep(t, text), nil); err == nil {
			t.Errorf("%s looks whole", what)
		}
		if _, err := archive.Restore(t.Context(), s, keep(t, text), passphrase, archive.RestoreOptions{As: "other"}); err == nil {
			t.Errorf("%s was restored", what)
		}
	}
	for n := range 12 {
		refuse("a cut archive", whole[:len(whole)*n/12])
	}
	refuse("an archive without its last byte", whole[:len(whole)-1])
	refuse("an archive with one more byte", append(bytes.Clone(whole), 0))
	for n := range 12 {
		changed := bytes.Clone(whole)
		changed[len(whole)*n/12+5] ^= 1
		refuse("a changed archive", changed)
	}
	// An archive of format 1 was what is sealed in today's.
	text, err := exec.Command("tar", "-xOf", file, "site.tar.gz.age").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Verify(t.Context(), s, keep(t, text), passphrase, nil); err != nil {
		t.Errorf("an archive of format 1: %v", err)
	}
	if _, err := archive.Restore(t.Context(), s, file, "sesame", archive.RestoreOptions{As: "other"}); !errors.Is(err, backup.ErrPassphrase) {
		t.Errorf("another passphrase: %v", err)
	}
	if _, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{As: "../other"}); err == nil {
		t.Error("a name that leads out of the folder was taken")
	}
	if _, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing site: %v", err)
	}
	untouched(t, s, layout, "default")
	if _, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{As: "other"}); err != nil {
		t.Errorf("the archive itself: %v", err)
	}
	untouched(t, s, layout, "default", "other")
}

// TestRestoreWithinQuotas: a site that goes back to what it was may have what the
// operator lets it have today.
func TestRestoreWithinQuotas(t *testing.T) {
	s, _, file := archived(t)
	sitetest.Configure(t, s, "default", site.QuotasKey, `{"documents": 7}`)
	if _, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	on, err := s.Open(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	if q := on.Site.Config().Quotas(); q.Documents != 7 {
		t.Errorf("the quotas are %+v", q)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// TestRestoreFails: where the new site cannot be put in the place of the old one,
// the old one is there again and serves.
func TestRestoreFails(t *testing.T) {
	s, layout, file := archived(t)
	removed := make(chan error, 1)
	go func() {
		for exists(layout.Site("default")) && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		removed <- os.RemoveAll(filepath.Join(layout.Data, "restoring"))
	}()
	if done, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{Replace: true}); err == nil {
		t.Errorf("restored %+v from nothing", done)
	}
	if err := <-removed; err != nil {
		t.Fatal(err)
	}
	untouched(t, s, layout, "default")
	s.Refresh(t.Context())
	on, err := s.Open(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	var found int64
	err = on.Store.Read(t.Context(), func(tx document.Tx) (err error) {
		found, err = on.Documents.As(identity.Root(), tx).Count(t.Context(), "ToDo", &query.Query{})
		return err
	})
	if err != nil || found != 300 {
		t.Errorf("%d documents, %v", found, err)
	}
}

// TestRestoreElsewhere: a site comes with its key, whatever the master key of the
// installation it comes to.
func TestRestoreElsewhere(t *testing.T) {
	from, _, file := archived(t)
	there, layout := sitetest.NewSet(t, func(c *sites.Config) { c.PassphraseWork = 10 })
	done, err := archive.Restore(t.Context(), there, file, passphrase, archive.RestoreOptions{As: "moved"})
	if err != nil {
		t.Fatal(err)
	}
	untouched(t, there, layout, "moved")
	old, moved := from.Tenant("default"), there.Tenant("moved")
	if moved != nil || done.Site != "moved" {
		t.Errorf("restored %+v, open %v", done, moved)
	}
	if moved, err = there.Open(t.Context(), "moved"); err != nil {
		t.Fatal(err)
	}
	sealed := old.Site.Secret.Seal("test", []byte("kept"))
	if text, err := moved.Site.Secret.Open("test", sealed); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
	// Its archive has the same records in it.
	a, err := backup.Open(t.Context(), file, passphrase, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := backup.Open(t.Context(), backedUp(t, there, "moved"), passphrase, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Opening the site has installed once more, which a counter counts.
	uncounted := func(p backup.Part) bool { return p.Name == "counters" }
	a.Manifest.Parts = slices.DeleteFunc(a.Manifest.Parts, uncounted)
	b.Manifest.Parts = slices.DeleteFunc(b.Manifest.Parts, uncounted)
	if fmt.Sprint(a.Manifest.Parts) != fmt.Sprint(b.Manifest.Parts) || a.Manifest.Records() < 300 {
		t.Errorf("the archive of the restored site differs:\n%v\n%v", a.Manifest.Parts, b.Manifest.Parts)
	}
}

// TestPublishedFrontend: what a site has published comes back with it, on every database.
func TestPublishedFrontend(t *testing.T) {
	s, layout := sitetest.NewSet(t, func(c *sites.Config) { c.PassphraseWork = 10 })
	sitetest.Create(t, s, "default")
	folder := func(name string) string {
		t.Helper()
		list, err := s.Sites(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if r.Name == name {
				return layout.Published(r.Folder)
			}
		}
		t.Fatalf("there is no site %s", name)
		return ""
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"index.html": "<p>ours</p>", "assets/app.js": "code"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.New(publish.Config{Dir: folder("default")}).Publish(t.Context(), b.Bytes(), "jane@example.com"); err != nil {
		t.Fatal(err)
	}
	file := backedUp(t, s, "default")
	if _, err := archive.Verify(t.Context(), s, file, passphrase, nil); err != nil {
		t.Error(err)
	}
	if _, err := archive.Restore(t.Context(), s, file, passphrase, archive.RestoreOptions{As: "other"}); err != nil {
		t.Fatal(err)
	}
	there := publish.New(publish.Config{Dir: folder("other")})
	list, err := there.List()
	if err != nil || len(list) != 1 || list[0].By != "jane@example.com" || list[0].Files != 2 {
		t.Fatal(list, err)
	}
	if text, err := os.ReadFile(filepath.Join(there.Folders()[0], "assets", "app.js")); err != nil || string(text) != "code" {
		t.Errorf("%q, %v", text, err)
	}
}
