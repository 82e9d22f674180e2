package store

import (
	"strconv"
	"strings"

	"armature/core/document"
)

// Bounds of what a client brings back as a position.
const (
	maxPosition = 4000
	maxDigits   = 18
)

// validSnapshot reports whether PostgreSQL would read a text as a pg_snapshot: xmin,
// xmax, and what was running between them, in order.
func validSnapshot(text string) bool {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return false
	}
	number := func(text string) (int64, bool) {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil && n > 0 && len(text) <= maxDigits
	}
	xmin, ok := number(parts[0])
	xmax, fine := number(parts[1])
	if !ok || !fine || xmin > xmax {
		return false
	}
	if parts[2] == "" {
		return true
	}
	last := xmin - 1
	for _, part := range strings.Split(parts[2], ",") {
		n, ok := number(part)
		if !ok || n <= last || n >= xmax {
			return false
		}
		last = n
	}
	return true
}

// moment is a number that grows with positions of one database.
func (s *Store) moment(p document.Position) int64 {
	text := string(p)
	if s.engine.races {
		_, text, _ = strings.Cut(text, ":")
		text, _, _ = strings.Cut(text, ":")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0 // it is none, which the database says
	}
	return n
}
