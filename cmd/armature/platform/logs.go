package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"armature/cmd/armature/outfile"
)

// keepLogsEvery is how often what plugins have logged is written to the site's
// folder, where other commands find it.
const keepLogsEvery = time.Second

func (g *Guests) keepLogs(ctx context.Context) {
	tick := time.NewTicker(keepLogsEvery)
	defer tick.Stop()
	for {
		g.writeAllLogs()
		select {
		case <-ctx.Done():
			g.writeAllLogs()
			return
		case <-tick.C:
		}
	}
}

func (g *Guests) writeAllLogs() {
	for _, site := range g.Logs.Sites() {
		g.writeLogs(site)
	}
}

func (g *Guests) writeLogs(site string) {
	if g.observer {
		return
	}
	g.Logs.Changed(site, func(plugin string, lines []json.RawMessage) {
		var text bytes.Buffer
		for _, line := range lines {
			text.Write(line)
			text.WriteByte('\n')
		}
		folder := g.folder(site)
		if folder == "" {
			return // it was closed, which wrote them
		}
		file := LogFile(folder, plugin)
		// No more than the one folder: a site that was dropped must not come back.
		err := os.Mkdir(filepath.Dir(file), 0o700)
		if err == nil || errors.Is(err, fs.ErrExist) {
			err = outfile.Replace(file, text.Bytes())
		}
		if _, gone := os.Stat(folder); err != nil && gone == nil {
			g.log.Warn("write down what a plugin logs", "site", site, "plugin", plugin, "error", err)
		}
	})
}

func LogFile(site, plugin string) string { return filepath.Join(site, "logs", plugin+".jsonl") }
