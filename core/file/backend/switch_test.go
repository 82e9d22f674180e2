package backend_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"armature/core/file/backend"
)

// place keeps texts in memory and knows whether it was closed.
type place struct {
	backend.Storage
	text   string
	closed int
}

func (p *place) Open(context.Context, string, int64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader([]byte(p.text))), nil
}

func (p *place) Close() error { p.closed++; return nil }

// TestSwitch: a site that is told another place reads there from then on, and closes
// every place it ever had, once, whenever it is told of it.
func TestSwitch(t *testing.T) {
	var s backend.Switch
	old, now, late := &place{text: "old"}, &place{text: "new"}, &place{}
	for _, p := range []*place{old, now} {
		if err := s.To(p); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), "key", 0)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(r); string(text) != p.text {
			t.Errorf("read %q from the place with %q", text, p.text)
		}
	}
	if old.closed != 0 {
		t.Error("a place was closed that readers may still be at")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.To(late); err != nil {
		t.Fatal(err)
	}
	if old.closed != 1 || now.closed != 1 || late.closed != 1 {
		t.Errorf("closed %d, %d and %d times, not once each", old.closed, now.closed, late.closed)
	}
}
