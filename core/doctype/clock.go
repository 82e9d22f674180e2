package doctype

import (
	"strings"
	"time"

	"armature/core/fault"
)

// The canonical forms of points in time. They sort as text as they sort in
// time, in both databases.
const (
	DatetimeLayout = "2006-01-02 15:04:05.000000"
	DateLayout     = "2006-01-02"
	TimeLayout     = "15:04:05.000000"
)

// AppendTime appends a point in time in the given canonical layout. It exists
// because time.Time.AppendFormat parses its layout on every call.
func AppendTime(dst []byte, t time.Time) []byte {
	year, month, day := t.Date()
	hour, minute, sec := t.Clock()
	dst = appendPadded(dst, year, 4)
	dst = appendPadded(append(dst, '-'), int(month), 2)
	dst = appendPadded(append(dst, '-'), day, 2)
	dst = appendPadded(append(dst, ' '), hour, 2)
	dst = appendPadded(append(dst, ':'), minute, 2)
	dst = appendPadded(append(dst, ':'), sec, 2)
	return appendPadded(append(dst, '.'), t.Nanosecond()/1000, 6)
}

func appendPadded(dst []byte, n, width int) []byte {
	var digits [8]byte
	for i := width - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, digits[:width]...)
}

// FormatDatetime is the canonical text of a point in time, on t's wall clock.
func FormatDatetime(t time.Time) string {
	return string(AppendTime(make([]byte, 0, len(DatetimeLayout)), t))
}

var (
	datetimeLayouts = []string{
		"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04", "2006-01-02T15:04",
	}
	zonedLayouts = []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02T15:04:05.999999999-0700", "2006-01-02 15:04:05.999999999-0700",
	}
	timeLayouts = []string{"15:04:05.999999999", "15:04"}
)

// ParseDatetime reads what clients send for a point in time; bare is true when
// it was a date without a time.
func ParseDatetime(s string, zone *time.Location) (t time.Time, bare, ok bool) {
	if len(s) == len(DateLayout) { // no other layout is as short; failing at the others first costs more than parsing
		t, err := time.Parse(DateLayout, s)
		return t, true, err == nil && t.Year() >= 1
	}
	for _, layout := range datetimeLayouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1 {
			return t, false, true
		}
	}
	for _, layout := range zonedLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			if zone != nil {
				t = t.In(zone)
			}
			return t, false, t.Year() >= 1 && t.Year() <= 9999
		}
	}
	return time.Time{}, false, false
}

func coerceTime(f *Field, v any, zone *time.Location) (any, error) {
	var s string
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		s = strings.TrimSpace(v)
	default:
		return nil, badTime(f)
	}
	if s == "" {
		return nil, nil
	}
	if f.Kind == Time {
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, s); err == nil {
				return FormatDatetime(t)[len("2006-01-02 "):], nil
			}
		}
	}
	t, _, ok := ParseDatetime(s, zone)
	if !ok {
		return nil, badTime(f)
	}
	text := FormatDatetime(t)
	switch f.Kind {
	case Date:
		return text[:len(DateLayout)], nil
	case Time:
		return text[len("2006-01-02 "):], nil
	}
	return text, nil
}

func badTime(f *Field) error {
	want := "a date and time like 2006-01-31 15:04:05"
	switch f.Kind {
	case Date:
		want = "a date like 2006-01-31"
	case Time:
		want = "a time like 15:04:05"
	}
	return fault.Invalid("", "%s must be %s", f.Title(), want)
}
