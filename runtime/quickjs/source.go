package quickjs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-sourcemap/sourcemap"
)

// File names in the stacks of QuickJS.
const (
	scriptFile  = "script.js"   // the script as bundled
	preludeFile = "armature.js" // the prelude, whose frames nobody needs to see
)

// maxFrames bounds a trace.
const maxFrames = 50

// sources knows where the lines of a script come from. A nil one knows nothing.
type sources struct {
	text []byte // of the map
	once sync.Once
	maps *sourcemap.Consumer // nil: the text is not a map
}

// lost matches "    at name (missing)", a function that was interrupted before it
// ever noted where it is.
var lost = regexp.MustCompile(`^\s*at (.*) \(missing\)$`)

// frame matches "    at name (file:line:column)" and "    at file:line:column".
var frame = regexp.MustCompile(`^\s*at (?:(.*) \()?([^()]*?):(\d+)(?::(\d+))?\)?$`)

// trace makes a fault's frames of a JavaScript stack, and says where the
// innermost is.
func (s *sources) trace(stack string) (frames []string, at string) {
	for line := range strings.Lines(stack) {
		line = strings.TrimRight(line, "\n")
		if m := lost.FindStringSubmatch(line); m != nil && len(frames) < maxFrames {
			frames = append(frames, m[1])
		}
		m := frame.FindStringSubmatch(line)
		if m == nil || m[2] == preludeFile || len(frames) == maxFrames {
			continue
		}
		row, _ := strconv.Atoi(m[3])
		column, _ := strconv.Atoi(m[4])
		place := s.place(m[2], row, column)
		if at == "" {
			at = place
		}
		name := m[1]
		if name == "" {
			name = "<anonymous>"
		}
		frames = append(frames, fmt.Sprintf("%s (%s)", name, place))
	}
	return frames, at
}

// place is file:line:column in the author's source; columns count from 1.
func (s *sources) place(file string, row, column int) string {
	if maps := s.consumer(); maps != nil && file == scriptFile {
		if source, _, line, col, ok := maps.Source(row, max(column-1, 0)); ok {
			return fmt.Sprintf("%s:%d:%d", source, line, col+1)
		}
	}
	return fmt.Sprintf("%s:%d:%d", file, row, column)
}

func (s *sources) consumer() *sourcemap.Consumer {
	if s == nil {
		return nil
	}
	s.once.Do(func() {
		if maps, err := sourcemap.Parse("", s.text); err == nil {
			s.maps = maps
		}
		s.text = nil
	})
	return s.maps
}
