package accesslog

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// appendText appends a line as slog.TextHandler writes it.
func appendText(b []byte, e *Entry) []byte {
	b = append(b, "time="...)
	b = e.Time.AppendFormat(b, "2006-01-02T15:04:05.000Z07:00")
	b = append(b, " level=INFO msg=request id="...)
	b = appendWord(b, e.ID)
	b = appendWord(append(b, " site="...), e.Site)
	b = appendWord(append(b, " user="...), e.User)
	b = appendWord(append(b, " from="...), e.From)
	b = appendWord(append(b, " method="...), e.Method)
	b = appendWord(append(b, " path="...), e.Path)
	b = strconv.AppendInt(append(b, " status="...), int64(e.Status), 10)
	b = strconv.AppendInt(append(b, " bytes="...), e.Bytes, 10)
	b = strconv.AppendInt(append(b, " duration_us="...), e.Took.Microseconds(), 10)
	b = strconv.AppendInt(append(b, " processing_us="...), e.Processing.Microseconds(), 10)
	if e.Client != "" {
		b = appendWord(append(b, " client="...), e.Client)
	}
	return append(b, '\n')
}

// appendJSON appends a line as slog.JSONHandler writes it. A JSON log has no
// durations, so the names say the unit.
func appendJSON(b []byte, e *Entry) []byte {
	b = append(b, `{"time":"`...)
	b = e.Time.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","level":"INFO","msg":"request","id":`...)
	b = appendString(b, e.ID)
	b = appendString(append(b, `,"site":`...), e.Site)
	b = appendString(append(b, `,"user":`...), e.User)
	b = appendString(append(b, `,"from":`...), e.From)
	b = appendString(append(b, `,"method":`...), e.Method)
	b = appendString(append(b, `,"path":`...), e.Path)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(e.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), e.Bytes, 10)
	b = strconv.AppendInt(append(b, `,"duration_us":`...), e.Took.Microseconds(), 10)
	b = strconv.AppendInt(append(b, `,"processing_us":`...), e.Processing.Microseconds(), 10)
	if e.Client != "" {
		b = appendString(append(b, `,"client":`...), e.Client)
	}
	return append(b, '}', '\n')
}

// appendWord appends a value, in quotes if somebody could take it for more than
// one, or for another line.
func appendWord(b []byte, s string) []byte {
	if s == "" || needsQuotes(s) {
		return strconv.AppendQuote(b, s)
	}
	return append(b, s...)
}

func needsQuotes(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c <= ' ' || c == '"' || c == '=' {
				return true
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return true
		}
		i += size
	}
	return false
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			text, err := json.Marshal(s)
			if err != nil { // a string always has a text
				text = []byte(`""`)
			}
			return append(b, text...)
		}
	}
	b = append(append(b, '"'), s...)
	return append(b, '"')
}
