package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"armature/core/backup"
)

// Progress shows how far something has come, on a terminal and nowhere else: in a
// line that is written over. It may be used concurrently.
type Progress struct {
	out   io.Writer // nil: nobody looks
	shown time.Time

	mu    sync.Mutex
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

// Work shows that something is being done, and for how many seconds, until stop is
// called: for what does not know how far it is.
func (p *Progress) Work(what string) (stop func()) {
	if p.out == nil {
		return func() {}
	}
	began, ended, gone := time.Now(), make(chan struct{}), make(chan struct{})
	p.line(what + " ...")
	go func() {
		defer close(gone)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case <-second.C:
				p.line(fmt.Sprintf("%s ... %d s", what, int(time.Since(began).Seconds())))
			case <-ended:
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
		p.End()
	}
}

// Beside is a writer to the same terminal: what it is given takes the line away first.
func (p *Progress) Beside(w io.Writer) io.Writer {
	if p.out == nil {
		return w
	}
	return beside{p, w}
}

type beside struct {
	p *Progress
	w io.Writer
}

func (b beside) Write(text []byte) (int, error) {
	b.p.End()
	return b.w.Write(text)
}

func (p *Progress) show(what string, done, total int64) {
	line := fmt.Sprintf("%s: %s", what, megabytes(done))
	if total > 0 {
		line = fmt.Sprintf("%s: %d %% of %s", what, done*100/total, megabytes(total))
	}
	p.line(line)
}

func (p *Progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "\r%s%s", text, strings.Repeat(" ", max(0, p.width-len(text))))
	p.width = len(text)
}

// End takes the line away.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
