package quickjs

import (
	"bytes"
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

// maxFrames bounds a trace, and maxStackText, in bytes, the stack it is made of,
// which a script can set to any text.
const (
	maxFrames    = 50
	maxStackText = 64 << 10
)

// How much of what a plugin brings is believed to be a source map: bytes, places in
// it, and what a file is called. The map stays in memory once an error has asked
// for it, a place as 24 bytes. Without a map, stacks have lines of the bundle.
const (
	maxMap    = 8 << 20
	maxPlaces = 1 << 19
	maxFile   = 200
)

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
	for line := range strings.Lines(cut(stack, maxStackText)) {
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
	if file == scriptFile {
		if source, line, col, ok := s.find(row, max(column-1, 0)); ok {
			return fmt.Sprintf("%s:%d:%d", cut(source, maxFile), line, col+1)
		}
	}
	return fmt.Sprintf("%s:%d:%d", cut(file, maxFile), row, column)
}

// find looks a place up in the map.
func (s *sources) find(row, column int) (file string, line, col int, ok bool) {
	if s == nil {
		return "", 0, 0, false
	}
	s.once.Do(s.parse)
	if s.maps == nil {
		return "", 0, 0, false
	}
	defer func() {
		if recover() != nil { // of the library: the map names what it has not
			ok = false
		}
	}()
	file, _, line, col, ok = s.maps.Source(row, column)
	return file, line, col, ok
}

func (s *sources) parse() {
	text := s.text
	s.text = nil
	if len(text) > maxMap || bytes.Count(text, []byte(","))+bytes.Count(text, []byte(";")) > maxPlaces {
		return
	}
	defer func() { _ = recover() }() // of the library: there is no map in it
	if maps, err := sourcemap.Parse("", text); err == nil {
		s.maps = maps
	}
}
