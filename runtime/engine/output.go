package engine

import (
	"bytes"
	"encoding/binary"
)

// maxLine is where a line without an end is cut.
const maxLine = 4 << 10

// lines gathers what a guest prints on one descriptor into lines.
type lines struct{ pending []byte }

func (l *lines) write(b []byte, emit func([]byte)) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			room := min(maxLine-len(l.pending), len(b))
			l.pending = append(l.pending, b[:room]...)
			b = b[room:]
			if len(l.pending) == maxLine {
				l.flush(emit)
			}
			continue
		}
		if line := b[:min(end, maxLine)]; len(l.pending) == 0 {
			emit(line)
		} else {
			l.pending = append(l.pending, line[:min(len(line), maxLine-len(l.pending))]...)
			l.flush(emit)
		}
		b = b[end+1:]
	}
}

func (l *lines) flush(emit func([]byte)) {
	if len(l.pending) > 0 {
		emit(l.pending)
		l.pending = l.pending[:0]
	}
}

// wasiWrite hands standard output and error to the call.
func wasiWrite(c *Call, s []uint64) uint32 {
	fd, iovs, n, result := uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3])
	if fd != 1 && fd != 2 {
		return errnoBadf
	}
	const maxVectors = 1024 // what POSIX systems allow
	if n > maxVectors {
		return errnoInval
	}
	var total uint32
	for vec := c.Read(iovs, n*8); len(vec) > 0; vec = vec[8:] {
		b := c.Read(binary.LittleEndian.Uint32(vec), binary.LittleEndian.Uint32(vec[4:]))
		total += uint32(len(b))
		c.print(fd == 2, b)
	}
	c.putUint32(result, total)
	return errnoSuccess
}

func (c *Call) print(stderr bool, b []byte) {
	if c.OnOutput == nil {
		return
	}
	l := &c.in.stdout
	if stderr {
		l = &c.in.stderr
	}
	l.write(b, func(line []byte) { c.OnOutput(c, stderr, line) })
}

// flushOutput emits the last lines when they lack a newline. The guest has ended
// by then, so there is nothing for an Abort to end.
func (c *Call) flushOutput() {
	if c.OnOutput == nil {
		return
	}
	defer func() {
		r := recover()
		if _, ok := r.(*abort); r != nil && !ok {
			panic(r)
		}
	}()
	c.in.stdout.flush(func(line []byte) { c.OnOutput(c, false, line) })
	c.in.stderr.flush(func(line []byte) { c.OnOutput(c, true, line) })
}
