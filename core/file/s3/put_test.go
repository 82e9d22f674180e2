package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"armature/core/file"
	"armature/core/file/s3"
)

// A large object goes in parts, and is there when the last one is; what is broken
// off leaves nothing.
func TestPutInParts(t *testing.T) {
	const part = 5 << 20 // the least that servers take, but for the last one
	b := bucket(t, "a/")
	b.InParts(part)
	content := make([]byte, 2*part+4321)
	for i := range content {
		content[i] = byte(rand.IntN(256))
	}
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "large", path); err != nil {
		t.Fatal(err)
	}
	r, err := b.Open(t.Context(), "large", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes come back, %v", len(got), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Put(ended, "broken", path); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
	if _, err := b.Open(t.Context(), "broken", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was broken off: %v", err)
	}
	count := 0
	if err := b.List(t.Context(), "", func(file.Object) error { count++; return nil }); err != nil || count != 1 {
		t.Errorf("%d objects, %v", count, err)
	}
}

func TestParseURL(t *testing.T) {
	o, err := s3.ParseURL("s3://archives/of/armature?endpoint=http://127.0.0.1:9000&region=eu-1")
	if want := (s3.Options{Bucket: "archives", Prefix: "of/armature", Endpoint: "http://127.0.0.1:9000", Region: "eu-1"}); err != nil || o != want {
		t.Errorf("%+v, %v", o, err)
	}
	for _, text := range []string{"s3:///x", "https://bucket/x", "s3://key:secret@bucket/x", "s3://b?endpoint=nowhere", "s3://b?endpiont=http://h", "s3://%zz"} {
		if o, err := s3.ParseURL(text); err == nil {
			t.Errorf("%s is %+v", text, o)
		}
	}
}
