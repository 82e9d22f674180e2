package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"armature/core/backup"
)

// Progress shows how far a backup has come, on a terminal and nowhere else: in a
// line that is written over.
type Progress struct {
	out   io.Writer // nil: nobody looks
	shown time.Time
	width int // of the line that is there
}

// showEvery is how often the line is written anew.
const showEvery = 200 * time.Millisecond

// Progress begins to show progress to whoever runs the command.
func (t *Terminal) Progress() *Progress {
	if f, ok := t.Stderr.(*os.File); ok && isatty.IsTerminal(f.Fd()) && !t.JSON {
		return &Progress{out: f}
	}
	return &Progress{}
}

// Tell is what a backup tells; nil where nobody looks.
func (p *Progress) Tell() backup.Progress {
	if p.out == nil {
		return nil
	}
	words := map[string]string{"write": "writing", "check": "checking", "restore": "restoring"}
	return func(stage string, done, total int64) {
		if now := time.Now(); now.Sub(p.shown) >= showEvery || done == total {
			p.shown = now
			p.show(words[stage], done, total)
		}
	}
}

func (p *Progress) show(what string, done, total int64) {
	line := fmt.Sprintf("%s: %s", what, megabytes(done))
	if total > 0 {
		line = fmt.Sprintf("%s: %d %% of %s", what, done*100/total, megabytes(total))
	}
	fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-len(line))))
	p.width = len(line)
}

// End takes the line away.
func (p *Progress) End() {
	if p.width > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
