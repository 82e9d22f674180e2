package armature

import "armature/sdk/go/internal/raw"

// Level says how much a log line matters.
type Level int32

// The levels of ABI version 1.
const (
	LevelDebug Level = 0
	LevelInfo  Level = 1
	LevelWarn  Level = 2
	LevelError Level = 3
)

// Log writes a line to the server's log, which adds site, plugin, method and
// request. pairs are names and values in turn, as in log/slog. A line is at most
// 4096 bytes long; the rest is cut.
func Log(level Level, message string, pairs ...any) {
	if len(pairs) == 0 {
		raw.Log(int32(level), append(scratch.request[:0], message...))
		return
	}
	b := appendString(request(`{"message":`), message)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok || i+1 == len(pairs) {
			name, i = "!BADKEY", i-1
		}
		b = logMember(b, name, pairs[i+1])
	}
	raw.Log(int32(level), append(b, '}'))
}

// logMember never fails: a value that cannot be encoded says so in the line.
func logMember(b []byte, name string, value any) []byte {
	if err, ok := value.(error); ok {
		value = err.Error()
	}
	b = append(appendString(append(b, ','), name), ':')
	out, err := encode(b, value)
	if err != nil {
		return appendString(b, "!"+err.Error())
	}
	return out
}
