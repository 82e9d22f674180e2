package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"armature/cmd/armature/outfile"
)

// keepLog writes what a plugin has logged lately to the site's folder, where other
// commands find it.
func (s *siteGuests) keepLog(plugin string, lines []json.RawMessage) {
	var text bytes.Buffer
	for _, line := range lines {
		text.Write(line)
		text.WriteByte('\n')
	}
	folder := s.site.Home().Dir
	file := LogFile(folder, plugin)
	// No more than the one folder: a site that was dropped must not come back.
	err := os.Mkdir(filepath.Dir(file), 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = outfile.Replace(file, text.Bytes())
	}
	if _, gone := os.Stat(folder); err != nil && gone == nil {
		s.log.Warn("write down what a plugin logs", "site", s.site.Site.Name, "plugin", plugin, "error", err)
	}
}

// LogFile is where the latest lines of a plugin are in the folder of a site.
func LogFile(site, plugin string) string { return filepath.Join(site, "logs", plugin+".jsonl") }
