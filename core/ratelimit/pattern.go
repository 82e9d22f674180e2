package ratelimit

import "strings"

// patterns finds what is said of a dotted path: under its own name, or else
// under the longest "prefix.*" it is below.
type patterns[T any] struct {
	byPattern map[string]T
}

func (p *patterns[T]) add(pattern string, v T) {
	if p.byPattern == nil {
		p.byPattern = make(map[string]T)
	}
	p.byPattern[pattern] = v
}

func (p *patterns[T]) empty() bool { return len(p.byPattern) == 0 }

func (p *patterns[T]) find(path string) (v T, ok bool) {
	if p.empty() || path == "" {
		return v, false
	}
	if v, ok = p.byPattern[path]; ok {
		return v, true
	}
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		if v, ok = p.byPattern[path[:i]+".*"]; ok {
			return v, true
		}
	}
	return v, false
}
