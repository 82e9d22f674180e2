package hostapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"armature/runtime/abi"
	"armature/runtime/engine"
)

// maxLine is where a line is cut.
const maxLine = 4 << 10

// logTo is the import log. initialising receives the lines of guests that
// initialise themselves.
func logTo(initialising *slog.Logger) func(*engine.Call, []uint64) {
	return func(c *engine.Call, stack []uint64) {
		text := receive(c, stack[1], stack[2])
		line(c, initialising, levelOf(int32(uint32(stack[0]))), text)
	}
}

// line logs what a guest says. initialising receives it while there is no call.
func line(c *engine.Call, initialising *slog.Logger, level slog.Level, text []byte) {
	text = text[:min(len(text), maxLine)]
	if st := of(c); st != nil {
		st.log(level, text)
		return
	}
	message, attrs := parseLine(text)
	initialising.LogAttrs(context.Background(), level, message, attrs...)
}

// printed logs what a guest writes to its standard output and error.
func printed(c *engine.Call, stderr bool, line []byte) {
	st := of(c)
	if st == nil {
		return
	}
	level := slog.LevelInfo
	if stderr {
		level = slog.LevelWarn
	}
	st.log(level, line)
}

// log writes one line while the call's limit lasts; the line that reaches it is
// cut and says so.
func (st *State) log(level slog.Level, text []byte) {
	logger := st.plugin.Logger
	room := st.limits.Log - st.logged
	if logger == nil || room <= 0 {
		return
	}
	st.logged += max(len(text), 1) // an empty line costs as well
	cut := len(text) > room
	text = text[:min(len(text), room)]
	if !logger.Enabled(context.Background(), level) {
		return
	}
	message, attrs := parseLine(text)
	attrs = append(attrs, slog.String("site", st.plugin.Site), slog.String("plugin", st.plugin.Name))
	if m := st.call.Method; m != nil {
		attrs = append(attrs, slog.String("method", m.Path))
	}
	if r := st.call.Request; r != nil {
		attrs = append(attrs, slog.String("request", r.ID))
	}
	if cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	line := slog.NewRecord(time.Now(), level, message, 0)
	line.AddAttrs(attrs...)
	st.emit(logger, line, len(text))
}

// What guests may log in one transaction: their lines wait in memory until it has
// ended, since it may have to be run again. It is as much as a single call may log, in
// lines of which each takes some 300 bytes more.
const (
	maxPending      = abi.MaxLog // bytes
	maxPendingLines = 10_000
)

// pending is what waits of a transaction.
type pending struct {
	bytes, lines int
	full         bool
}

type pendingKey struct{}

// emit writes a line of so many bytes once the run that logs it is the last: of one
// that is run again nobody reads.
func (st *State) emit(logger *slog.Logger, line slog.Record, length int) {
	done := func() { _ = logger.Handler().Handle(context.Background(), line) }
	if st.call.Tx == nil {
		done()
		return
	}
	aside := st.call.Tx.SideEffects()
	p := aside.Value(pendingKey{}, func() any { return new(pending) }).(*pending)
	if p.full {
		return
	}
	p.bytes, p.lines = p.bytes+length, p.lines+1
	if p.full = p.bytes > maxPending || p.lines > maxPendingLines; p.full {
		line = slog.NewRecord(line.Time, slog.LevelWarn, "further lines of this transaction are left out", 0)
		line.AddAttrs(slog.String("site", st.plugin.Site), slog.String("plugin", st.plugin.Name))
	}
	aside.Last(done)
}

// parseLine takes a JSON object with a message apart; any other text is the
// message itself. The guest's attributes are a group, so that they cannot pass
// for the host's.
func parseLine(text []byte) (message string, attrs []slog.Attr) {
	var members map[string]any
	if len(text) > 0 && text[0] == '{' && json.Unmarshal(text, &members) == nil {
		if message, ok := members["message"].(string); ok {
			delete(members, "message")
			var own []any
			for _, name := range slices.Sorted(maps.Keys(members)) {
				own = append(own, slog.Any(name, members[name]))
			}
			if own != nil {
				attrs = append(attrs, slog.Group("guest", own...))
			}
			return message, attrs
		}
	}
	return string(text), nil
}

// levelOf maps a level of the ABI; one outside the table counts as the nearest.
func levelOf(level int32) slog.Level {
	switch {
	case level <= abi.LevelDebug:
		return slog.LevelDebug
	case level == abi.LevelInfo:
		return slog.LevelInfo
	case level == abi.LevelWarn:
		return slog.LevelWarn
	}
	return slog.LevelError
}
