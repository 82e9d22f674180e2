// Package storagetest is the suite that every file.Storage passes.
package storagetest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"armature/core/file"
)

// Run exercises a storage that is empty.
func Run(t *testing.T, open func(t *testing.T) (s file.Storage, spool string)) {
	tests := []struct {
		name string
		fn   func(t *testing.T, k kit)
	}{
		{"put and read", testPut},
		{"replace", testReplace},
		{"delete", testDelete},
		{"move", testMove},
		{"list", testList},
		{"parallel", testParallel},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, spool := open(t)
			tt.fn(t, kit{s, spool})
		})
	}
}

type kit struct {
	file.Storage
	spool string
}

func (k kit) put(t *testing.T, key, content string) {
	t.Helper()
	name := filepath.Join(k.spool, strings.ReplaceAll(key, "/", "_"))
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.Put(t.Context(), key, name); err != nil {
		t.Fatal(err)
	}
}

func (k kit) read(t *testing.T, key string, offset int64) string {
	t.Helper()
	r, err := k.Open(t.Context(), key, offset)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (k kit) keys(t *testing.T, prefix string) []string {
	t.Helper()
	keys := []string{}
	err := k.List(t.Context(), prefix, func(o file.Object) error {
		if o.Modified.IsZero() {
			t.Errorf("%s has no time", o.Key)
		}
		keys = append(keys, o.Key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

func testPut(t *testing.T, k kit) {
	k.put(t, "blob/ab/abcd-1", "hello world")
	k.put(t, "blob/ab/empty", "")
	for offset, want := range map[int64]string{0: "hello world", 6: "world", 11: ""} {
		if got := k.read(t, "blob/ab/abcd-1", offset); got != want {
			t.Errorf("from %d: %q", offset, got)
		}
	}
	if got := k.read(t, "blob/ab/empty", 0); got != "" {
		t.Errorf("an empty file reads %q", got)
	}
	if _, err := k.Open(t.Context(), "blob/ab/nothing", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing key: %v", err)
	}
}

func testReplace(t *testing.T, k kit) {
	k.put(t, "part/a.1", "first")
	k.put(t, "part/a.1", "second")
	if got := k.read(t, "part/a.1", 0); got != "second" {
		t.Errorf("read %q", got)
	}
}

func testDelete(t *testing.T, k kit) {
	k.put(t, "blob/aa/x", "x")
	for range 2 { // the second time there is nothing
		if err := k.Delete(t.Context(), "blob/aa/x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.Open(t.Context(), "blob/aa/x", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deleted key: %v", err)
	}
}

func testMove(t *testing.T, k kit) {
	k.put(t, "blob/aa/x", "x")
	k.put(t, "trash/x", "before")
	if err := k.Move(t.Context(), "blob/aa/x", "trash/x"); err != nil {
		t.Fatal(err)
	}
	if got := k.read(t, "trash/x", 0); got != "x" {
		t.Errorf("the moved bytes read %q", got)
	}
	if _, err := k.Open(t.Context(), "blob/aa/x", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key it had: %v", err)
	}
	if err := k.Move(t.Context(), "blob/aa/x", "trash/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("moving what is not there: %v", err)
	}
	if got := k.read(t, "trash/x", 0); got != "x" {
		t.Errorf("after moving nothing over it: %q", got)
	}
}

func testList(t *testing.T, k kit) {
	if got := k.keys(t, "blob/"); len(got) != 0 {
		t.Errorf("an empty storage lists %v", got)
	}
	all := []string{"blob/aa/1", "blob/ab/2", "part/u1-x.0", "part/u1-y.0", "part/u2-x.0"}
	for _, key := range all {
		k.put(t, key, key)
	}
	for prefix, want := range map[string][]string{
		"blob/": all[:2], "part/": all[2:], "part/u1-": all[2:4], "part/u9-": {},
	} {
		if got := k.keys(t, prefix); !slices.Equal(got, want) {
			t.Errorf("%s lists %v", prefix, got)
		}
	}
	stop := errors.New("stop")
	if err := k.List(t.Context(), "blob/", func(file.Object) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of fn came back as %v", err)
	}
}

// testParallel replaces a key while it is read: a reader gets one content or the
// other.
func testParallel(t *testing.T, k kit) {
	a, b := strings.Repeat("a", 64<<10), strings.Repeat("b", 64<<10)
	k.put(t, "part/p", a)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 20 {
			k.put(t, "part/p", []string{a, b}[i%2])
		}
	})
	wg.Go(func() {
		for range 20 {
			if got := k.read(t, "part/p", 0); got != a && got != b {
				t.Errorf("read %d bytes of a mixture", len(got))
			}
		}
	})
	wg.Wait()
}
