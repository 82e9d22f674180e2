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
	file := filepath.Join(t.TempDir(), "secret.key")
	load := func() *site.Master {
		t.Helper()
		m, err := site.LoadMaster(file)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	sealedKey, secret := load().NewSecret()
	sealed := secret.Seal("x", []byte("kept"))
	again, err := load().OpenSecret(sealedKey)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := again.Open("x", sealed); err != nil || string(text) != "kept" {
		t.Fatalf("after a restart: %q, %v", text, err)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

func TestWrongMaster(t *testing.T) {
	one, err := site.ParseMaster(strings.Repeat("01", 32))
	if err != nil {
		t.Fatal(err)
	}
	two, err := site.ParseMaster("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	if err != nil {
		t.Fatal(err)
	}
	sealed, _ := one.NewSecret()
	for name, text := range map[string]string{"another's": sealed, "nothing": "", "cut": sealed[:len(sealed)-4]} {
		if _, err := two.OpenSecret(text); !errors.Is(err, site.ErrWrongMaster) {
			t.Errorf("%s: %v, want ErrWrongMaster", name, err)
		}
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
	masters := make([]*site.Master, 8)
	var wg sync.WaitGroup
	for i := range masters {
		wg.Go(func() {
			m, err := site.LoadMaster(file)
			if err != nil {
				t.Error(err)
			}
			masters[i] = m
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	sealed, _ := masters[0].NewSecret()
	for _, m := range masters[1:] {
		if _, err := m.OpenSecret(sealed); err != nil {
			t.Error("processes that start at once made different keys")
		}
	}
}
