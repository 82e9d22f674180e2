package publish_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/public/publish"
)

// file is a file of an archive.
type file struct {
	name, text string
	mode       fs.FileMode
}

func archive(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode | 0o644)
		w, err := z.CreateHeader(h)
		if err == nil && !strings.HasSuffix(f.name, "/") {
			_, err = w.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func page(text string) file { return file{name: "index.html", text: text} }

// served is what the frontend has at a name; empty: nothing.
func served(t *testing.T, v *publish.Versions, name string) string {
	t.Helper()
	dirs := v.Folders()
	if len(dirs) == 0 {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(dirs[0], name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func TestVersions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "published")
	var counted int64
	v := publish.New(publish.Config{Dir: dir, Count: func(n int64) { counted += n }})
	if _, err := v.Rollback(t.Context()); fault.KindOf(err) != fault.Validation {
		t.Errorf("taken back without a version: %v", err)
	}
	for i := range 8 {
		one, err := v.Publish(t.Context(), archive(t, page(fmt.Sprint("page ", i)), file{name: fmt.Sprintf("assets/%d.js", i), text: "code"}), "jane@example.com")
		if err != nil || one.Files != 2 || one.Bytes != 10 || one.By != "jane@example.com" {
			t.Fatal(one, err)
		}
		if got := served(t, v, "index.html"); got != fmt.Sprint("page ", i) {
			t.Fatalf("after %d: %q", i, got)
		}
		if old := served(t, v, fmt.Sprintf("assets/%d.js", i-1)); old != "" {
			t.Errorf("version %d has a file of the one before", i)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 6 { // five versions and the list
		t.Errorf("%d entries are left, %v", len(entries), err)
	}
	if bytes, err := v.Bytes(); err != nil || bytes != 50 || counted != 50 {
		t.Errorf("%d bytes, counted %d, %v", bytes, counted, err)
	}
	again := publish.New(publish.Config{Dir: dir}) // another process
	for i := 6; i >= 3; i-- {
		if left, err := again.Rollback(t.Context()); err != nil || len(left) != i-2 {
			t.Fatal(left, err)
		}
		if got := served(t, v, "index.html"); i > 3 && got != fmt.Sprint("page ", i) {
			t.Errorf("taken back to %d: %q", i, got)
		}
	}
	if _, err := again.Rollback(t.Context()); err != nil || len(v.Folders()) != 0 {
		t.Errorf("the first is taken back: %v %v", v.Folders(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d entries are left, %v", len(entries), err)
	}
}

// Whoever reads while others publish and take back sees a whole version, always: each
// has one word in all of its files.
func TestNeverHalf(t *testing.T) {
	v := publish.New(publish.Config{Dir: filepath.Join(t.TempDir(), "published")})
	put := func(i int) {
		word := fmt.Sprint(i)
		if _, err := v.Publish(t.Context(), archive(t, page(word), file{name: "a.js", text: word}, file{name: "b/c.js", text: word}), "x"); err != nil {
			t.Error(err)
		}
	}
	put(0)
	put(0)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				dirs := v.Folders()
				if len(dirs) == 0 {
					t.Error("no version is served")
					return
				}
				root, err := os.OpenRoot(dirs[0])
				if err != nil {
					continue // deleted just now
				}
				words := map[string]bool{}
				for _, name := range []string{"index.html", "a.js", "b/c.js"} {
					text, err := root.ReadFile(name)
					if err != nil {
						words = nil // the same
						break
					}
					words[string(text)] = true
				}
				if len(words) > 1 {
					t.Errorf("parts of several versions: %v", words)
				}
				root.Close()
			}
		})
	}
	for i := range 9 {
		put(i)
		if i%3 == 2 {
			if _, err := v.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
	readers.Wait()
}

func TestRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "published")
	v := publish.New(publish.Config{Dir: dir, Reserved: func(path string) bool { return path == "/login" || strings.HasPrefix(path, "/api/") }})
	with := func(names ...string) []byte {
		files := []file{page("home")}
		for _, n := range names {
			files = append(files, file{name: n, text: "x"})
		}
		return archive(t, files...)
	}
	many := make([]string, 10_001)
	for i := range many {
		many[i] = fmt.Sprintf("%d.js", i)
	}
	for what, a := range map[string][]byte{
		"no archive": []byte("hello"), "nothing": nil, "no page": archive(t, file{name: "about.html", text: "x"}), "a folder in a folder": archive(t, file{name: "dist/index.html", text: "x"}),
		"above": with("../x.js"), "above within": with("a/../../x.js"), "dots": with("a/./b.js"), "root": with("/etc/passwd"), "backslash": with(`a\..\b.js`), "drive": with("C:x.js"),
		"empty part": with("a//b.js"), "NUL": with("a\x00.js"), "newline": with("a\n.js"), "no text": with("a\xff.js"),
		"device": with("con"), "device with an extension": with("assets/NUL.js"), "dot at the end": with("a./b.js"), "space at the end": with("a .js", "b "),
		"hidden": with(".env"), "hidden folder": with("a/.git/config"), "the platform's": with("login"), "below the platform's": with("api/x.js"),
		"capitals": with("a.js", "A.js"), "folders that differ in capitals": with("Img/a.png", "img/b.png"), "sharp s": with("straße.js", "STRASSE.js"), "accents": with("\u00e9.js", "e\u0301.js"),
		"twice": with("a.js", "a.js"), "a file and a folder": with("a", "a/b.js"), "a folder and a file": with("a/b.js", "a"), "the page in capitals": with("INDEX.HTML"),
		"long name": with(strings.Repeat("x", 201)), "long path": with(strings.Repeat("xxxxxxxxxx/", 100) + "a"), "deep": with(strings.Repeat("d/", 40) + "a"),
		"link":        archive(t, page("home"), file{name: "a.js", text: "/etc/passwd", mode: fs.ModeSymlink}),
		"pipe":        archive(t, page("home"), file{name: "a.js", mode: fs.ModeNamedPipe}),
		"too many":    with(many...),
		"claims less": lie(t, archive(t, page(strings.Repeat("x", 5000))), 10), "claims more": lie(t, archive(t, page("x")), 400<<20), "claims a lot": lie(t, archive(t, page("x")), 1<<31),
		"cut off": with("a.js")[:60],
	} {
		if _, err := v.Publish(t.Context(), a, "x"); fault.KindOf(err) != fault.Validation {
			t.Errorf("%s: %v", what, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) != 0 {
		t.Errorf("%d entries are left of what was refused, %v", len(entries), err)
	}
	if _, err := v.Publish(t.Context(), with(".well-known/security.txt", "_headers", "assets/", "assets/a.js", "ünï/ß.js"), "x"); err != nil {
		t.Errorf("what may be published is not: %v", err)
	}
}

// lie changes what an archive says of the size of its only file.
func lie(t *testing.T, a []byte, size uint32) []byte {
	t.Helper()
	at := bytes.Index(a, []byte("PK\x01\x02"))
	if at < 0 {
		t.Fatal("no directory")
	}
	binary.LittleEndian.PutUint32(a[at+24:], size)
	return a
}

// A bomb is not unpacked further than it admits to be large.
func TestQuota(t *testing.T) {
	asked := int64(0)
	full := fault.New(fault.Validation, fault.QuotaExceeded, "full")
	v := publish.New(publish.Config{Dir: filepath.Join(t.TempDir(), "published"), Admit: func(_ context.Context, n int64) error { asked = n; return full }})
	if _, err := v.Publish(t.Context(), archive(t, page(strings.Repeat("x", 10<<20))), "x"); !errors.Is(err, full) || asked != 10<<20 {
		t.Errorf("%v, asked for %d", err, asked)
	}
	if len(v.Folders()) > 0 {
		t.Error("it is served all the same")
	}
}

// What a publication has left that was broken off goes with a later one, and not before
// it must be over.
func TestLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "published")
	v := publish.New(publish.Config{Dir: dir})
	for name, age := range map[string]time.Duration{".new-old": 2 * time.Hour, ".new-young": time.Minute, "20200101-000000-abcdef": 48 * time.Hour} {
		path, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(path, 0o700), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	one, err := v.Publish(t.Context(), archive(t, page("home")), "x")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got, want := strings.Join(left, " "), ".new-young "+one.Name+" versions.json"; got != want {
		t.Errorf("%s is left, want %s", got, want)
	}
}

// TestSave: what is saved is all that is needed to serve the same somewhere else, whatever
// is taken back while it is.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	v := publish.New(publish.Config{Dir: filepath.Join(dir, "published")})
	save := func(to string, meanwhile func(name string)) {
		t.Helper()
		err := v.Save(t.Context(), func(name string, content io.Reader) error {
			path := filepath.Join(to, filepath.FromSlash(name))
			text, err := io.ReadAll(content)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o700)
			}
			if err == nil {
				err = os.WriteFile(path, text, 0o600)
			}
			meanwhile(name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	save(filepath.Join(dir, "nothing"), func(string) {})
	if _, err := os.Stat(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a version something is saved: %v", err)
	}
	for _, text := range []string{"one", "two", "three"} {
		if _, err := v.Publish(t.Context(), archive(t, page(text), file{name: "a/b.js", text: text}), "jane@example.com"); err != nil {
			t.Fatal(err)
		}
	}
	whole := publish.New(publish.Config{Dir: filepath.Join(dir, "whole")})
	save(filepath.Join(dir, "whole"), func(string) {})
	if got, err := whole.List(); err != nil || len(got) != 3 || served(t, whole, "index.html") != "three" || served(t, whole, "a/b.js") != "three" {
		t.Errorf("%v, %v", got, err)
	}
	// Another process takes the last one back after the first file of the first.
	once := sync.OnceFunc(func() {
		if _, err := publish.New(publish.Config{Dir: filepath.Join(dir, "published")}).Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	})
	part := publish.New(publish.Config{Dir: filepath.Join(dir, "part")})
	save(filepath.Join(dir, "part"), func(string) { once() })
	if got, err := part.List(); err != nil || len(got) != 2 || served(t, part, "index.html") != "two" {
		t.Errorf("%v, %v", got, err)
	}
}
