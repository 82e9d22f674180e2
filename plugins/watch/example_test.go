package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"armature/plugins/watch"
)

// printed loads nothing and says what it was told.
type printed chan string

func (p printed) Load(_ context.Context, path string) error {
	p <- "load " + filepath.Base(path)
	return nil
}
func (p printed) Unload(path string) { p <- "unload " + filepath.Base(path) }

// A folder's files are loaded when they have settled, and unloaded when they are gone.
func ExampleWatcher_Follow() {
	dir, err := os.MkdirTemp("", "plugins")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, err := watch.New(watch.Config{Settle: 10 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	told := make(printed, 8)
	folder, err := w.Follow(context.Background(), told, dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer folder.Close()

	file := filepath.Join(dir, "shop.ts")
	if err := os.WriteFile(file, []byte("export function hello() {}"), 0o600); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-told)
	if err := os.Remove(file); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-told)
	// Output:
	// load shop.ts
	// unload shop.ts
}
