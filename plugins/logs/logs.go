// Package logs keeps the latest lines that each plugin has logged on each site.
//
// A Book has a page for every plugin on every site; a page forgets its oldest
// lines. Lines are JSON objects as log/slog writes them.
package logs

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// A page holds at most this many lines and bytes.
const (
	maxLines = 500
	maxBytes = 256 << 10
)

// Book keeps the lines of a process. The zero value is ready for use, by many
// goroutines.
type Book struct {
	mu    sync.Mutex
	pages map[owner]*page
}

type owner struct{ site, plugin string }

// Logger returns a logger that keeps lines of level Info and above, and hands
// all of them on to next.
func (b *Book) Logger(site, plugin string, next *slog.Logger) *slog.Logger {
	keep := slog.NewJSONHandler(b.page(owner{site, plugin}), nil)
	if next == nil {
		return slog.New(keep)
	}
	return slog.New(slog.NewMultiHandler(next.Handler(), keep))
}

// Lines returns the latest lines of a plugin on a site, oldest first, at most n.
func (b *Book) Lines(site, plugin string, n int) []json.RawMessage {
	return b.page(owner{site, plugin}).latest(n)
}

// Drop forgets the lines of a site.
func (b *Book) Drop(site string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for o := range b.pages {
		if o.site == site {
			delete(b.pages, o)
		}
	}
}

// Sites lists the sites that have lines.
func (b *Book) Sites() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := map[string]bool{}
	for o := range b.pages {
		names[o.site] = true
	}
	return slices.Collect(maps.Keys(names))
}

// Changed calls fn with every page of a site that has new lines since the last
// time.
func (b *Book) Changed(site string, fn func(plugin string, lines []json.RawMessage)) {
	b.mu.Lock()
	var fresh []string
	for o, p := range b.pages {
		if o.site == site && p.takeFresh() {
			fresh = append(fresh, o.plugin)
		}
	}
	b.mu.Unlock()
	for _, plugin := range fresh {
		fn(plugin, b.Lines(site, plugin, maxLines))
	}
}

func (b *Book) page(o owner) *page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[o]
	if p == nil {
		p = &page{}
		if b.pages == nil {
			b.pages = map[owner]*page{}
		}
		b.pages[o] = p
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
