package site_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"armature/core/site"
)

func TestSealOpen(t *testing.T) {
	s := site.NewSecret([32]byte{1})
	sealed := s.Seal("token", []byte("hello"))
	if again := s.Seal("token", []byte("hello")); again == sealed {
		t.Error("sealing twice gives the same text: the nonce repeats")
	}
	if text, err := s.Open("token", sealed); err != nil || string(text) != "hello" {
		t.Fatalf("Open = %q, %v", text, err)
	}
	for name, open := range map[string]func() ([]byte, error){
		"another purpose": func() ([]byte, error) { return s.Open("password", sealed) },
		"another key":     func() ([]byte, error) { return site.NewSecret([32]byte{2}).Open("token", sealed) },
		"cut":             func() ([]byte, error) { return s.Open("token", sealed[:len(sealed)-4]) },
		"no prefix":       func() ([]byte, error) { return s.Open("token", "hello") },
		"not base64":      func() ([]byte, error) { return s.Open("token", "v1.***") },
		"empty":           func() ([]byte, error) { return s.Open("token", "") },
	} {
		if _, err := open(); !errors.Is(err, site.ErrSealed) {
			t.Errorf("%s: %v, want ErrSealed", name, err)
		}
	}
}

func TestMAC(t *testing.T) {
	s := site.NewSecret([32]byte{1})
	if !bytes.Equal(s.MAC("p", "x"), s.MAC("p", "x")) {
		t.Error("not a function of its input")
	}
	for name, other := range map[string][]byte{
		"text":     s.MAC("p", "y"),
		"purpose":  s.MAC("q", "x"),
		"boundary": s.MAC("px", ""),
		"key":      site.NewSecret([32]byte{2}).MAC("p", "x"),
	} {
		if bytes.Equal(s.MAC("p", "x"), other) {
			t.Errorf("another %s gives the same hash", name)
		}
	}
}

func TestMasterKeepsItsKey(t *testing.T) {
	dir := t.TempDir()
	masterFile, siteFile := filepath.Join(dir, "secret.key"), filepath.Join(dir, "site.key")
	open := func() *site.Secret {
		t.Helper()
		m, err := site.LoadMaster(masterFile)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Secret("default", siteFile)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sealed := open().Seal("x", []byte("kept"))
	if text, err := open().Open("x", sealed); err != nil || string(text) != "kept" {
		t.Fatalf("after a restart: %q, %v", text, err)
	}
	if runtime.GOOS != "windows" {
		for _, file := range []string{masterFile, siteFile} {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v, %v", file, info.Mode(), err)
			}
		}
	}
}

func TestWrongMaster(t *testing.T) {
	dir := t.TempDir()
	siteFile := filepath.Join(dir, "site.key")
	one, err := site.ParseMaster(strings.Repeat("01", 32))
	if err != nil {
		t.Fatal(err)
	}
	two, err := site.ParseMaster("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Secret("default", siteFile); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Secret("default", siteFile); !errors.Is(err, site.ErrWrongMaster) {
		t.Errorf("%v, want ErrWrongMaster", err)
	}
	if _, err := one.Secret("another", siteFile); !errors.Is(err, site.ErrWrongMaster) {
		t.Errorf("the key of one site opened as another's: %v", err)
	}
}

func TestParseMasterRefuses(t *testing.T) {
	for _, text := range []string{"", "secret", strings.Repeat("0", 63), strings.Repeat("01", 31)} {
		if _, err := site.ParseMaster(text); err == nil {
			t.Errorf("%q passed as a master key", text)
		}
	}
}

func TestMasterMadeOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret.key")
	sealed := make([]*site.Secret, 8)
	var wg sync.WaitGroup
	for i := range sealed {
		wg.Go(func() {
			m, err := site.LoadMaster(file)
			if err != nil {
				t.Error(err)
				return
			}
			s, err := m.Secret("default", filepath.Join(filepath.Dir(file), "site.key"))
			if err != nil {
				t.Error(err)
				return
			}
			sealed[i] = s
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for _, s := range sealed[1:] {
		if _, err := s.Open("x", sealed[0].Seal("x", nil)); err != nil {
			t.Error("processes that start at once made different keys")
		}
	}
}
