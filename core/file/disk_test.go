package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"armature/core/file"
	"armature/core/file/storagetest"
)

func TestDisk(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (file.Storage, string) {
		dir := t.TempDir()
		return openDisk(t, dir), dir
	})
}

func openDisk(t testing.TB, dir string) *file.Disk {
	t.Helper()
	d, err := file.OpenDisk(filepath.Join(dir, "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestDiskStaysInside asks for keys that this package never makes.
func TestDiskStaysInside(t *testing.T) {
	dir := t.TempDir()
	d := openDisk(t, dir)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(t.Context(), "../secret", 0); err == nil {
		t.Error("read outside the folder")
	}
	if err := d.Delete(t.Context(), "../secret"); err == nil {
		t.Error("deleted outside the folder")
	}
	if err := d.Put(t.Context(), "../new/secret", secret); err == nil {
		t.Error("wrote outside the folder")
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error("the file outside is gone")
	}
}
