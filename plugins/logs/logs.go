// Package logs keeps the latest lines that each plugin of a site has logged.
//
// A Book is one site's and has a page for every plugin; a page forgets its oldest
// lines. Lines are JSON objects as log/slog writes them.
package logs

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
)

// A page holds at most this many lines and bytes.
const (
	maxLines = 500
	maxBytes = 256 << 10
)

// Book keeps the lines of one site. The zero value is ready for use, by many
// goroutines.
type Book struct {
	mu    sync.Mutex
	pages map[string]*page // by plugin
}

// Logger returns a logger that keeps lines of level Info and above, and hands
// all of them on to next.
func (b *Book) Logger(plugin string, next *slog.Logger) *slog.Logger {
	keep := slog.NewJSONHandler(b.page(plugin), nil)
	if next == nil {
		return slog.New(keep)
	}
	return slog.New(slog.NewMultiHandler(next.Handler(), keep))
}

// Lines returns the latest lines of a plugin, oldest first, at most n.
func (b *Book) Lines(plugin string, n int) []json.RawMessage { return b.page(plugin).latest(n) }

// Changed calls fn with every page that has new lines since the last time.
func (b *Book) Changed(fn func(plugin string, lines []json.RawMessage)) {
	b.mu.Lock()
	var fresh []string
	for plugin, p := range b.pages {
		if p.takeFresh() {
			fresh = append(fresh, plugin)
		}
	}
	b.mu.Unlock()
	for _, plugin := range fresh {
		fn(plugin, b.Lines(plugin, maxLines))
	}
}

func (b *Book) page(plugin string) *page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[plugin]
	if p == nil {
		p = &page{}
		if b.pages == nil {
			b.pages = map[string]*page{}
		}
		b.pages[plugin] = p
	}
	return p
}

type page struct {
	mu    sync.Mutex
	lines []json.RawMessage
	bytes int
	fresh bool
}

// Write takes one line: log/slog writes each with one call.
func (p *page) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, slices.Clone(line[:len(line)-1]))
	p.bytes += len(line)
	p.fresh = true
	drop := 0
	for len(p.lines)-drop > maxLines || p.bytes > maxBytes && len(p.lines)-drop > 1 {
		p.bytes -= len(p.lines[drop]) + 1
		drop++
	}
	p.lines = slices.Delete(p.lines, 0, drop)
	return len(line), nil
}

func (p *page) latest(n int) []json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines[max(len(p.lines)-n, 0):])
}

func (p *page) takeFresh() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh := p.fresh
	p.fresh = false
	return fresh
}
