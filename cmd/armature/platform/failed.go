package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"armature/plugins/replay"
)

// maxFailed is how many failed calls a site keeps.
const maxFailed = 100

// records reports whether the site wants its failed calls kept.
func (s *siteGuests) records() bool { return s.site.Site.Config().RecordFailedCalls() }

// keepFailed writes a failed call into the site's folder. It holds what the
// caller sent and read, so nobody but the server's own user may look at it.
func (s *siteGuests) keepFailed(c *replay.Call) {
	dir := filepath.Join(s.site.Home().Dir, "failed_calls")
	file := filepath.Join(dir, c.At.Format("20060102T150405.000000000")+"-"+c.Plugin+".json")
	if err := writeFailed(file, c); err != nil {
		s.log.Error("keep a failed call", "site", c.Site, "plugin", c.Plugin, "error", err)
		return
	}
	s.log.Info("kept a failed call", "site", c.Site, "plugin", c.Plugin, "method", c.Method, "file", file)
	files, _ := filepath.Glob(filepath.Join(dir, "*.json")) // sorted, oldest first
	for len(files) > maxFailed {
		_ = os.Remove(files[0])
		files = files[1:]
	}
}

func writeFailed(file string, c *replay.Call) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	// No more than the one folder: a site that was dropped must not come back.
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
