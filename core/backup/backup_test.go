package backup_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"armature/core/backup"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/file"
	"armature/core/identity"
	"armature/core/store"
)

const passphrase = "four words are enough"

var made = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// newSite is a site with a DocType of its own, a file and a plugin.
func newSite(t *testing.T) (*documenttest.Site, backup.Contents) {
	t.Helper()
	site := documenttest.New(t, document.ServiceConfig{}, `{"name": "Book", "module": "Library", "custom": 1, "fields": [
		{"fieldname": "title", "fieldtype": "Data"}, {"fieldname": "price", "fieldtype": "Float"}, {"fieldname": "pages", "fieldtype": "Int"}]}`)
	from := emptySite(t)
	from.Store = site.Store.(*store.Store)
	site.Insert("Book", `{"title": "Zoë's \"Dune\"", "price": 9.5, "pages": 412}`)
	site.Insert("Book", `{"title": null}`)
	if err := from.Store.SetCounter(t.Context(), "BOOK-", 41); err != nil {
		t.Fatal(err)
	}
	keepFile(t, from, site, "blob/ab/abcd", "the bytes of a file")
	if err := os.MkdirAll(filepath.Join(from.Plugins, "shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(from.Plugins, "shop", "index.js"), "export function hello() {}")
	return site, from
}

// emptySite is what an archive is restored into.
func emptySite(t *testing.T) backup.Contents {
	t.Helper()
	boot, err := doctypes.Boot()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "site.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	files, err := file.OpenDisk(filepath.Join(dir, "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return backup.Contents{Store: db, Boot: boot, Files: files, Plugins: filepath.Join(dir, "plugins")}
}

// keepFile stores a File and its bytes, as core/file would.
func keepFile(t *testing.T, s backup.Contents, site *documenttest.Site, key, content string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bytes")
	write(t, path, content)
	if err := s.Files.Put(t.Context(), key, path); err != nil {
		t.Fatal(err)
	}
	dt := site.Documents.Schema().DocType(file.DocType)
	doc := doctype.NewDocument(dt)
	for name, v := range map[string]any{
		"name": key, "owner": "Administrator", "modified_by": "Administrator", "file_name": "a.txt", "storage_key": key,
		"creation": "2026-03-14 15:09:26.000000", "modified": "2026-03-14 15:09:26.000000",
	} {
		doc.Put(name, v)
	}
	if err := s.Store.Write(t.Context(), document.OneWrite, func(tx document.Tx) error { return tx.Insert(t.Context(), doc) }); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// archive writes a site into a file.
func archive(t *testing.T, s backup.Contents) (path string, m *backup.Manifest) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "site.armature")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err = backup.Write(t.Context(), f, s, backup.Options{
		Header: backup.Header{Site: "default", Version: "1.0"}, Config: []byte(`{"rate_limit": 1}`), Key: []byte("a key"),
		Passphrase: passphrase, Work: 10, Now: func() time.Time { return made },
	})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path, m
}

// rows are all rows of a table, in the order of their names.
func rows(t *testing.T, s backup.Contents, dt *doctype.DocType) (all []string) {
	t.Helper()
	sel := &doctype.Select{DocType: dt, Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}}}}
	for _, f := range dt.Columns {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
	}
	err := s.Store.Read(t.Context(), func(tx document.Tx) error {
		return tx.Rows(t.Context(), sel, func(values []any) error {
			all = append(all, fmt.Sprintf("%q", values))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What comes out of an archive is what went in: every row of every DocType, counters,
// files, plugins, the configuration and the key.
func TestRoundTrip(t *testing.T) {
	site, from := newSite(t)
	path, manifest := archive(t, from)
	if n, size := manifest.Files(); n != 1 || size != int64(len("the bytes of a file")) {
		t.Errorf("%d files of %d bytes", n, size)
	}
	var told int64
	a, err := backup.Open(t.Context(), path, passphrase, func(_ string, done, _ int64) { told = done })
	if err != nil {
		t.Fatal(err)
	}
	if a.Header.Site != "default" || !a.Header.Made.Equal(made) || string(a.Config) != `{"rate_limit": 1}` || string(a.Key) != "a key" {
		t.Errorf("%+v %s %s", a.Header, a.Config, a.Key)
	}
	if told == 0 || a.Manifest.Records() != manifest.Records() || manifest.Records() == 0 {
		t.Errorf("told of %d bytes; %d records, written %d", told, a.Manifest.Records(), manifest.Records())
	}

	to := emptySite(t)
	if err := a.Restore(t.Context(), to, t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	for dt := range site.Documents.Schema().All {
		if got, want := rows(t, to, dt), rows(t, from, dt); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got\n%v, want\n%v", dt.Name, got, want)
		}
	}
	counters := map[string]int64{}
	err = to.Store.Snapshot(t.Context(), func(n *store.Snapshot) error {
		return n.Counters(t.Context(), func(name string, value int64) error { counters[name] = value; return nil })
	})
	if err != nil || counters["BOOK-"] != 41 {
		t.Errorf("counters %v, %v", counters, err)
	}
	content, err := to.Files.Open(t.Context(), "blob/ab/abcd", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(content); err != nil || text.String() != "the bytes of a file" {
		t.Errorf("%q, %v", &text, err)
	}
	plugin, err := os.ReadFile(filepath.Join(to.Plugins, "shop", "index.js"))
	if err != nil || string(plugin) != "export function hello() {}" {
		t.Errorf("%q, %v", plugin, err)
	}
}

// An archive is tried without a place for its files and plugins.
func TestRestoreOfRecordsAlone(t *testing.T) {
	_, from := newSite(t)
	path, _ := archive(t, from)
	a, err := backup.Open(t.Context(), path, passphrase, nil)
	if err != nil {
		t.Fatal(err)
	}
	to := emptySite(t)
	to.Files, to.Plugins = nil, ""
	if err := a.Restore(t.Context(), to, t.TempDir(), nil); err != nil {
		t.Error(err)
	}
}

// The bytes of a File that is still there have to be; those of one that was deleted
// while the archive was made may be gone, and so is it in the archive.
func TestMissingBytes(t *testing.T) {
	site, from := newSite(t)
	if err := from.Files.Delete(t.Context(), "blob/ab/abcd"); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "site.armature"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := backup.Options{Passphrase: passphrase, Work: 10, Now: time.Now}
	if _, err := backup.Write(t.Context(), f, from, o); err == nil {
		t.Error("an archive without the bytes of a File")
	}
	err = site.Do(identity.Root(), func(docs document.Acting) error { return docs.Delete(t.Context(), file.DocType, "blob/ab/abcd") })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Write(t.Context(), f, from, o); err != nil {
		t.Errorf("after the File was deleted: %v", err)
	}
}

// A changed byte, a missing end and a wrong passphrase are found before anything is
// made of an archive; but for the passphrase, nobody needs it for that.
func TestDamage(t *testing.T) {
	_, from := newSite(t)
	path, _ := archive(t, from)
	if _, err := backup.Inspect(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Open(t.Context(), path, "another", nil); !errors.Is(err, backup.ErrPassphrase) {
		t.Errorf("another passphrase: %v", err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.armature")
	for name, change := range map[string]func([]byte) []byte{
		"cut":           func(b []byte) []byte { return b[:len(b)-600] },
		"cut in blocks": func(b []byte) []byte { return b[:len(b)-1024] },
		"longer":        func(b []byte) []byte { return append(b, 0) },
		"an end":        func(b []byte) []byte { b[len(b)-1] = 1; return b },
		"the cover": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"sha256": "`), []byte(`"sha256": "0`), 1)[:len(b)]
		},
		"sealed":       func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"a newer form": func(b []byte) []byte { return bytes.Replace(b, []byte(`"format": 2`), []byte(`"format": 9`), 1) },
	} {
		write(t, bad, string(change(bytes.Clone(whole))))
		if _, err := backup.Inspect(t.Context(), bad, nil); err == nil {
			t.Errorf("%s: found whole", name)
		}
		if _, err := backup.Open(t.Context(), bad, passphrase, nil); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	// A cover that says something else than what is sealed is that of another archive.
	write(t, bad, string(bytes.Replace(whole, []byte(`"site": "default"`), []byte(`"site": "another"`), 1)))
	if _, err := backup.Open(t.Context(), bad, passphrase, nil); err == nil {
		t.Error("opened under another cover")
	}
}
