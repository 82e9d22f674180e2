package file

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestImageNobodyWaitsFor: decoding and scaling end when the request does.
func TestImageNobodyWaitsFor(t *testing.T) {
	var content bytes.Buffer
	if err := png.Encode(&content, image.NewGray(image.Rect(0, 0, 100, 100))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head, err := readImageHead(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := head.shrunk(ctx, f, bounds{width: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("decoding: %v", err)
	}
	if _, err := scale(ctx, image.NewGray(image.Rect(0, 0, 100, 100)), 10, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("scaling: %v", err)
	}
}
