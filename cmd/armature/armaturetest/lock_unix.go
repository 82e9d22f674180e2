//go:build unix

package armaturetest

import (
	"os"
	"syscall"
	"testing"
)

// lock waits until nobody else, in this process or another one, holds a file.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { _ = f.Close() } // which lets go of it
}
