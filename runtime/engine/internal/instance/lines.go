package instance

import "bytes"

// maxLine is where a line without an end is cut, in bytes.
const maxLine = 4 << 10

// Lines gathers what a guest prints on one descriptor into lines.
type Lines struct{ pending []byte }

// Write takes more of what the guest prints, and hands every line that is complete to
// emit, without its newline and valid during the call only.
func (l *Lines) Write(b []byte, emit func([]byte)) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			room := min(maxLine-len(l.pending), len(b))
			l.pending = append(l.pending, b[:room]...)
			b = b[room:]
			if len(l.pending) == maxLine {
				l.Flush(emit)
			}
			continue
		}
		if line := b[:min(end, maxLine)]; len(l.pending) == 0 {
			emit(line)
		} else {
			l.pending = append(l.pending, line[:min(len(line), maxLine-len(l.pending))]...)
			l.Flush(emit)
		}
		b = b[end+1:]
	}
}

// Flush hands on a last line that has no newline.
func (l *Lines) Flush(emit func([]byte)) {
	if len(l.pending) > 0 {
		emit(l.pending)
		l.pending = l.pending[:0]
	}
}
