package call

// Print takes what the guest prints, for OnOutput.
func Print(c *Call, stderr bool, b []byte) {
	if c.OnOutput == nil {
		return
	}
	l := &c.in.Stdout
	if stderr {
		l = &c.in.Stderr
	}
	l.Write(b, func(line []byte) { c.OnOutput(c, stderr, line) })
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
	c.in.Stdout.Flush(func(line []byte) { c.OnOutput(c, false, line) })
	c.in.Stderr.Flush(func(line []byte) { c.OnOutput(c, true, line) })
}
