package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how often certificate files are looked at, at most: at a
// handshake, so that a server nobody talks to does nothing.
const lookEvery = time.Second

// files is a certificate and its key in two PEM files. Whoever renews them
// replaces the files; the next handshake, a second later at most, has the new
// certificate.
type files struct {
	cert, key string
	log       *slog.Logger
	current   atomic.Pointer[tls.Certificate]
	looked    atomic.Int64 // Unix nanoseconds

	mu   sync.Mutex
	seen [2]os.FileInfo // as they were when they were last read, well or not
}

func openFiles(cert, key string, log *slog.Logger) (*files, error) {
	f := &files{cert: cert, key: key, log: log}
	return f, f.reload()
}

// get is a tls.Config's GetCertificate.
func (f *files) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now, looked := time.Now().UnixNano(), f.looked.Load()
	if now-looked > int64(lookEvery) && f.looked.CompareAndSwap(looked, now) && f.changed() {
		if err := f.reload(); err != nil {
			f.log.Error("the certificate changed and cannot be used; the old one stays", "error", err)
		}
	}
	return f.current.Load(), nil
}

// changed reports whether the files are others than those last read. One that
// is missing for a moment is being replaced.
func (f *files) changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, path := range []string{f.cert, f.key} {
		info, err := os.Stat(path)
		if err != nil {
			return false
		}
		old := f.seen[i]
		if old == nil || !os.SameFile(old, info) || !old.ModTime().Equal(info.ModTime()) || old.Size() != info.Size() {
			return true
		}
	}
	return false
}

// reload reads the files, whether they changed or not.
func (f *files) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	// They are looked at before they are read: what changes in between is seen
	// as a change later.
	for i, path := range []string{f.cert, f.key} {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("TLS certificate: %w", err)
		}
		f.seen[i] = info
	}
	c, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return fmt.Errorf("TLS certificate: %s, %s: %w", f.cert, f.key, err)
	}
	f.current.Store(&c)
	f.looked.Store(time.Now().UnixNano())
	level := slog.LevelInfo
	if time.Now().After(c.Leaf.NotAfter) {
		level = slog.LevelWarn // clients will refuse it
	}
	f.log.Log(context.Background(), level, "TLS certificate", "file", f.cert, "names", c.Leaf.DNSNames, "not_after", c.Leaf.NotAfter)
	return nil
}
