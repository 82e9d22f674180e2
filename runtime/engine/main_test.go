package engine_test

import (
	"fmt"
	"os"
	"testing"
)

// cacheDir is shared by the tests' engines, so that the Go guest is compiled
// once.
var cacheDir string

func TestMain(m *testing.M) {
	var err error
	if cacheDir, err = os.MkdirTemp("", "engine-cache"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(cacheDir)
	os.Exit(code)
}
