package main_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"
)

// smallDisk is a file system of the test's own.
type smallDisk struct{ dir, size string }

// mountSmall makes a small file system. It takes a privilege that no package
// brings: without it the test is skipped everywhere.
func mountSmall(t *testing.T, size string) *smallDisk {
	t.Helper()
	d := &smallDisk{dir: t.TempDir(), size: size}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size="+size); err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
			t.Skip("this user may not mount a file system to fill")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *smallDisk) readOnly(t *testing.T, yes bool) {
	t.Helper()
	flags := uintptr(syscall.MS_REMOUNT)
	if yes {
		flags |= syscall.MS_RDONLY
	}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", flags, "size="+d.size); err != nil {
		t.Fatal(err)
	}
}

// fillDisk leaves about 6 MiB free.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	free := int64(fs.Bavail) * fs.Bsize
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, max(free-6<<20, 0)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func freeDisk(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
}

// checkIntegrity has SQLite look at every page.
func checkIntegrity(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var result string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity of %s: %s, %v", file, result, err)
	}
}
