package datafolder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Replace writes a file of which nobody ever sees a part.
func Replace(dir, name string, text []byte) error {
	tmp, err := os.CreateTemp(dir, "."+strings.TrimPrefix(name, ".")+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
