package s3_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"armature/core/file"
	"armature/core/file/s3"
	"armature/core/file/storagetest"
)

func TestStorage(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (file.Storage, string) {
		return bucket(t, ""), t.TempDir()
	})
}

func TestPrefix(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (file.Storage, string) {
		return bucket(t, "sites/a/"), t.TempDir()
	})
}

// bucket is an empty one of a server in this process.
func bucket(t *testing.T, prefix string) *s3.Bucket {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(checked(t, gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	b := s3.Open(s3.Options{Endpoint: server.URL, Bucket: "files", Prefix: prefix, AccessKey: "key", SecretKey: "secret"})
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// checked looks at what the server itself takes without a look: that requests
// are signed, and that the hash they sign is that of the body.
func checked(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/") {
			t.Errorf("%s %s is not signed", r.Method, r.URL)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sum := sha256.Sum256(body)
		if r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) {
			t.Errorf("%s %s is signed for another body", r.Method, r.URL)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func TestRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
	}))
	defer server.Close()
	b := s3.Open(s3.Options{Endpoint: server.URL, Bucket: "files", AccessKey: "key", SecretKey: "wrong"})
	if _, err := b.Open(t.Context(), "blob/x", 0); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("refused: %v", err)
	}
	if err := b.Delete(t.Context(), "blob/x"); err == nil {
		t.Error("a refused deletion is an error")
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		ok, fails  bool
	}{
		{"absent", ``, false, false},
		{"null", `null`, false, false},
		{"whole", `{"endpoint":"http://10.0.0.1:9000","bucket":"b","access_key":"k","secret_key":"s"}`, true, false},
		{"amazon", `{"bucket":"b","region":"eu-west-1","virtual_host":true}`, true, false},
		{"no bucket", `{"endpoint":"http://x"}`, false, true},
		{"no URL", `{"bucket":"b","endpoint":"10.0.0.1"}`, false, true},
		{"text", `"b"`, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ok, err := s3.Parse(json.RawMessage(tt.text))
			if ok != tt.ok || (err != nil) != tt.fails {
				t.Errorf("got %v, %v", ok, err)
			}
		})
	}
}
